// Every item pushed is handled once, whole, on its PE and in order, for any mix of sizes, destinations and rounds.
#include <lull/aggregate.hpp>

#include <cstring>
#include <random>
#include <vector>

#include "check.hpp"

namespace {

template <std::size_t Bytes>
struct item {
  std::uint32_t from;
  std::uint32_t number;
  unsigned char rest[Bytes - 8];
};

template <class Item>
Item make(int from, int to, std::uint32_t number) {
  Item made{};
  made.from = static_cast<std::uint32_t>(from);
  made.number = number;
  std::memset(made.rest, static_cast<int>(number) * 7 + to, sizeof made.rest);
  return made;
}

enum class pattern { nothing, one_item, all_to_one, all_to_self, random };

template <std::size_t Bytes>
void items_arrive_once_and_in_order() {
  using Item = item<Bytes>;
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  const auto all = static_cast<std::size_t>(pes);
  std::vector<std::uint32_t> expected_next(all), received(all);
  auto* const sent = static_cast<std::uint64_t*>(shmem_calloc(all, sizeof(std::uint64_t)));  // to me, by sender
  lull::aggregator items{lull::items<Item>, [&](const Item& got) {
                           CHECK(got.from < all && got.number == expected_next[got.from]);
                           const Item whole = make<Item>(static_cast<int>(got.from), me, got.number);
                           CHECK(std::memcmp(got.rest, whole.rest, sizeof got.rest) == 0);
                           ++expected_next[got.from];
                         }};
  std::vector<std::uint32_t> next(all);
  std::mt19937 random(static_cast<unsigned>(me) * 100 + Bytes);
  const auto push = [&](int to) {
    items.push(make<Item>(me, to, next[static_cast<std::size_t>(to)]), to);
    ++next[static_cast<std::size_t>(to)];
  };
  for (const pattern how : {pattern::random, pattern::nothing, pattern::one_item, pattern::all_to_one,
                            pattern::all_to_self, pattern::random, pattern::random}) {
    const auto count = static_cast<unsigned>(random() % 30'000);
    switch (how) {
      case pattern::nothing:
        break;
      case pattern::one_item:
        if (me == pes - 1) push(0);
        break;
      case pattern::all_to_one:
        for (unsigned i = 0; i < count; ++i) push(pes / 2);
        break;
      case pattern::all_to_self:
        for (unsigned i = 0; i < count; ++i) push(me);
        break;
      case pattern::random:
        for (unsigned i = 0; i < count; ++i) push(static_cast<int>(random() % all));
    }
    items.done();
    for (int to = 0; to < pes; ++to) shmem_uint64_p(sent + me, next[static_cast<std::size_t>(to)], to);
    shmem_barrier_all();
    for (std::size_t from = 0; from < all; ++from) CHECK(expected_next[from] == sent[from]);
    shmem_barrier_all();
  }
  std::uint64_t pushed = 0;
  for (const auto n : next) pushed += n;
  CHECK(items.statistics().items == pushed);
  shmem_free(sent);
}

}  // namespace

int main() {
  shmem_init();
  items_arrive_once_and_in_order<12>();
  items_arrive_once_and_in_order<32>();
  items_arrive_once_and_in_order<20'000>();  // larger than a slot
  finish();
}
