// Every item is handled exactly once and complete on its PE, for any mix of sizes, destinations, phases and policies;
// in order if the route has one hop.
#include <lull/aggregate.hpp>

#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
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

std::uint64_t seed = 1;

template <std::size_t Bytes>
void items_arrive_once(const lull::aggregate_options& options, unsigned most = 10'000) {
  using Item = item<Bytes>;
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  const auto all = static_cast<std::size_t>(pes);
  std::vector<std::uint32_t> expected_next(all), received(all);
  std::vector<std::uint64_t> numbers(all);
  const bool in_order = options.hops == 1;
  auto* const sent = static_cast<std::uint64_t*>(shmem_calloc(all, sizeof(std::uint64_t)));  // to me, by sender
  lull::aggregator items{lull::items_of<Item>{},
                         [&](const Item& got) {
                           CHECK(got.from < all && got.number < 1'000'000'000);
                           if (in_order) CHECK(got.number == expected_next[got.from]);
                           numbers[got.from] += got.number;
                           const Item whole = make<Item>(static_cast<int>(got.from), me, got.number);
                           CHECK(std::memcmp(got.rest, whole.rest, sizeof got.rest) == 0);
                           ++expected_next[got.from];
                         },
                         options};
  std::vector<std::uint32_t> next(all);
  std::mt19937 random(static_cast<unsigned>(me) * 100 + Bytes + static_cast<unsigned>(seed++));
  const auto push = [&](int to) {
    items.push(make<Item>(me, to, next[static_cast<std::size_t>(to)]), to);
    ++next[static_cast<std::size_t>(to)];
  };
  for (const pattern how : {pattern::random, pattern::nothing, pattern::one_item, pattern::all_to_one,
                            pattern::all_to_self, pattern::random, pattern::random}) {
    const auto count = static_cast<unsigned>(random() % most);
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
    for (std::size_t from = 0; from < all; ++from) {
      CHECK(expected_next[from] == sent[from]);
      CHECK(numbers[from] == sent[from] * (sent[from] - (sent[from] != 0)) / 2);  // each number once
    }
    shmem_barrier_all();
  }
  std::uint64_t pushed = 0;
  for (const auto n : next) pushed += n;
  CHECK(items.statistics().items == pushed);
  shmem_free(sent);
}

// Items of any size, empty ones included.
void items_of_any_size_arrive_once(const lull::aggregate_options& options) {
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  std::uint64_t bytes = 0, count = 0;
  lull::aggregator items{lull::items_of<lull::byte_span>{},
                         [&](std::span<const std::byte> got) {
                           ++count;
                           bytes += got.size();
                           for (std::size_t i = 0; i < got.size(); ++i)
                             CHECK(got[i] == static_cast<std::byte>(got.size() * 3 + i));
                         },
                         options};
  auto* const sent = static_cast<std::uint64_t*>(shmem_calloc(2, sizeof(std::uint64_t)));  // items and bytes to me
  std::mt19937 random(static_cast<unsigned>(me) + static_cast<unsigned>(seed++));
  std::vector<std::byte> item(400);
  std::vector<std::uint64_t> mine(static_cast<std::size_t>(pes)), mine_bytes(mine.size());  // by PE
  for (int phase = 0; phase < 2; ++phase) {
    const unsigned pushes = static_cast<unsigned>(random() % 1000);
    for (unsigned k = 0; k < pushes; ++k) {
      const std::size_t size = random() % 5 == 0 ? 0 : static_cast<std::size_t>(random()) % item.size();
      for (std::size_t i = 0; i < size; ++i) item[i] = static_cast<std::byte>(size * 3 + i);
      const auto to = static_cast<int>(static_cast<unsigned>(random()) % static_cast<unsigned>(pes));
      items.push({item.data(), size}, to);
      ++mine[static_cast<std::size_t>(to)];
      mine_bytes[static_cast<std::size_t>(to)] += size;
    }
    items.done();
    for (int to = 0; to < pes; ++to) {
      shmem_uint64_atomic_add(&sent[0], std::exchange(mine[static_cast<std::size_t>(to)], 0), to);
      shmem_uint64_atomic_add(&sent[1], std::exchange(mine_bytes[static_cast<std::size_t>(to)], 0), to);
    }
    shmem_barrier_all();
    CHECK(count == sent[0] && bytes == sent[1]);
    shmem_barrier_all();
  }
  bool refused = false;
  try {
    const std::vector<std::byte> huge(std::size_t{1} << 20U);
    items.push(huge, me);
  } catch (const std::length_error&) {
    refused = true;
  }
  CHECK(refused);
  items.done();
  shmem_free(sent);
}

std::uint64_t value_of(int pe, std::uint64_t request) { return request * 1000 + static_cast<std::uint64_t>(pe) + 7; }

struct stored_value {  // may be read directly, too
  const std::uint64_t* values;
  std::uint64_t operator()(std::uint64_t request) const { return values[request]; }
  std::uint64_t direct(std::uint64_t request, int pe) const { return shmem_uint64_g(values + request, pe); }
};

// Phases of all sizes, including direct ones and changes between the two modes.
template <class Gatherer>
void values_come_in_the_order_asked(Gatherer& gather) {
  const auto pes = static_cast<unsigned>(shmem_n_pes());
  std::mt19937 random(static_cast<unsigned>(shmem_my_pe()) + 77 + static_cast<unsigned>(seed++));
  for (const unsigned most : {0U, 1U, 10U, 5000U, 3U, 1500U, 1U, 1U}) {
    std::vector<std::uint64_t> requests(most == 0 ? 0 : random() % most + 1), values(requests.size(), 0);
    std::vector<int> from(requests.size());
    gather.into(values);
    for (std::size_t k = 0; k < requests.size(); ++k) {
      requests[k] = random() % 100;
      from[k] = static_cast<int>(random() % pes);
      gather.get(requests[k], from[k]);
    }
    gather.done();
    for (std::size_t k = 0; k < requests.size(); ++k) CHECK(values[k] == value_of(from[k], requests[k]));
  }
}

void values_come_in_the_order_asked(const lull::aggregate_options& options) {
  const int me = shmem_my_pe();
  lull::gatherer computed{lull::items_of<std::uint64_t>{},
                          [me](std::uint64_t request) { return value_of(me, request); }, options};
  values_come_in_the_order_asked(computed);
  auto* const table = static_cast<std::uint64_t*>(shmem_malloc(100 * sizeof(std::uint64_t)));
  for (std::uint64_t i = 0; i < 100; ++i) table[i] = value_of(me, i);
  shmem_barrier_all();
  lull::gatherer stored{lull::items_of<std::uint64_t>{}, stored_value{table}, options};
  values_come_in_the_order_asked(stored);
  shmem_barrier_all();
  shmem_free(table);
}

void memory_is_bounded(lull::aggregate_options options) {
  const int me = shmem_my_pe();
  options.memory_bytes = std::size_t{512} << 10U;
  lull::aggregator<std::uint64_t, void (*)(const std::uint64_t&)> items{lull::items_of<std::uint64_t>{},
                                                                        [](const std::uint64_t&) {}, options};
  CHECK(items.statistics().memory_bytes <= options.memory_bytes);
  lull::gatherer words{lull::items_of<std::uint64_t>{}, [me](std::uint64_t request) { return value_of(me, request); },
                       options};
  CHECK(words.statistics().memory_bytes <= options.memory_bytes);
  values_come_in_the_order_asked(words);
}

struct counted {
  std::uint64_t* counts;
  void operator()(std::uint32_t word) const { ++counts[word]; }
  void direct(std::uint32_t word, int pe) const { shmem_uint64_atomic_inc(counts + word, pe); }
};

void an_increment_is_made_once_directly_or_not(const lull::aggregate_options& options) {
  const auto pes = static_cast<unsigned>(shmem_n_pes());
  auto* const counts = static_cast<std::uint64_t*>(shmem_calloc(64, sizeof(std::uint64_t)));
  auto* const sums = static_cast<std::uint64_t*>(shmem_calloc(2, sizeof(std::uint64_t)));
  {
    lull::aggregator increments{lull::items_of<std::uint32_t>{}, counted{counts}, options};
    std::mt19937 random(static_cast<unsigned>(shmem_my_pe()) + 5);
    std::uint64_t pushed = 0;
    // Some phases are small for all PEs, some for only one.
    for (const unsigned most : {1U, 5U, 5000U, 5000U, 2U, 2U, 1500U, 1U}) {
      const unsigned items = shmem_my_pe() == 0 && most == 1500 ? 1 : static_cast<unsigned>(random() % most) + 1;
      for (unsigned k = 0; k < items; ++k)
        increments.push(static_cast<std::uint32_t>(random() % 64), static_cast<int>(random() % pes));
      increments.done();
      pushed += items;
      CHECK(increments.statistics().items == pushed);
    }
    std::uint64_t found = 0;
    for (int i = 0; i < 64; ++i) found += counts[i];
    shmem_uint64_atomic_add(&sums[0], pushed, 0);
    shmem_uint64_atomic_add(&sums[1], found, 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) CHECK(sums[0] == sums[1]);
  }
  shmem_barrier_all();
  shmem_free(sums);
  shmem_free(counts);
}

}  // namespace

int main() {
  shmem_init();
  items_arrive_once<20'000>({}, 300);  // larger than a typical buffer
  for (const auto buffers : {lull::aggregate_buffers::per_pe, lull::aggregate_buffers::per_node})
    for (int hops = 1; hops <= 3; ++hops)
      for (const int compress : {0, 1}) {
        lull::aggregate_options options{.buffers = buffers, .hops = hops, .compress = compress};
        items_arrive_once<12>(options, 1500);
        options.buffer_bytes = 512;  // so that buffers are always full
        options.flush_us = compress;
        items_arrive_once<32>(options, 600);
        if (compress) continue;
        items_of_any_size_arrive_once({.buffers = buffers, .hops = hops});
        values_come_in_the_order_asked(lull::aggregate_options{.buffers = buffers, .hops = hops});
        memory_is_bounded({.buffers = buffers, .hops = hops});
        an_increment_is_made_once_directly_or_not({.buffers = buffers, .hops = hops});
      }
  finish();
}
