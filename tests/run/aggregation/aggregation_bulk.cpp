// Many items at a time, and items collected in bins, give the same result as single pushes, in any mix, on every route.
#include <lull/aggregate.hpp>
#include <lull/aggregate_bins.hpp>

#include <random>
#include <vector>

#include "check.hpp"

namespace {

constexpr std::uint64_t words = 1000;

struct numbered {
  std::uint64_t item;
  int pe;
};

// Counts words; also directly, where there are few.
struct counter {
  std::uint64_t* table;
  void operator()(std::uint64_t word) { ++table[word]; }
  void direct(std::uint64_t word, int pe) { shmem_uint64_atomic_inc(table + word, pe); }
};

// The pushes of a PE in a phase, which every PE can compute for all of them.
std::vector<numbered> pushed_by(int pe, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(pe) + static_cast<unsigned>(count));
  std::vector<numbered> made(count);
  for (numbered& one : made)
    one = {random() % words, static_cast<int>(random() % static_cast<unsigned>(shmem_n_pes()))};
  return made;
}

template <class Aggregator>
void counts_are_right(Aggregator& items, std::uint64_t* table) {
  const int me = shmem_my_pe();
  std::vector<std::uint64_t> expected(table, table + words);
  for (const std::size_t count : {0U, 1U, 17U, 3000U, 5U, 3U, 2000U}) {
    const auto pushed = pushed_by(me, count);
    std::size_t next = 0;
    const auto make = [&](std::size_t i) {
      CHECK(i == next++);  // each once, in order
      return pushed[i];
    };
    items.push_each(count / 2, make);
    const std::size_t rest = count - count / 4;
    for (std::size_t i = count / 2; i < rest; ++i) items.push(pushed[i].item, pushed[i].pe);
    items.push_each(count - rest, [&](std::size_t i) { return pushed[rest + i]; });
    items.done();
    for (int pe = 0; pe < shmem_n_pes(); ++pe)
      for (const numbered& one : pushed_by(pe, count)) expected[one.item] += one.pe == me ? 1 : 0;
    shmem_barrier_all();  // direct operations of others may come later than done() here
    for (std::uint64_t word = 0; word < words; ++word) CHECK(table[word] == expected[word]);
    shmem_barrier_all();
  }
}

void bulk(const lull::aggregate_options& options) {
  auto* const table = symmetric<std::uint64_t>(words);
  {
    lull::aggregator items{lull::items_of<std::uint64_t>{}, [table](std::uint64_t word) { ++table[word]; }, options};
    counts_are_right(items, table);
    lull::aggregator either_way{lull::items_of<std::uint64_t>{}, counter{table}, options};
    counts_are_right(either_way, table);
    const auto key = [](std::uint64_t word) { return word / 100; };
    lull::aggregator in_bins{lull::items_of<std::uint64_t>{},
                             lull::binned{lull::items_of<std::uint64_t>{}, 10, key, counter{table}, 64}, options};
    counts_are_right(in_bins, table);
    lull::aggregator in_bins_of_one{lull::items_of<std::uint64_t>{},
                                    lull::binned{lull::items_of<std::uint64_t>{}, 10, key, counter{table}, 0}, options};
    counts_are_right(in_bins_of_one, table);
  }
  shmem_free(table);
}

void bulk_gathers(const lull::aggregate_options& options) {
  const auto value_of = [](std::uint64_t word, int pe) { return word * 1000 + static_cast<std::uint64_t>(pe); };
  lull::gatherer values{lull::items_of<std::uint64_t>{},
                        [&](std::uint64_t word) { return value_of(word, shmem_my_pe()); }, options};
  for (const std::size_t count : {1U, 0U, 2500U, 3U}) {
    const auto asked = pushed_by(shmem_my_pe(), count);
    std::vector<std::uint64_t> got(count);
    values.into(got);
    values.get_each(count / 3, [&](std::size_t i) { return asked[i]; });
    for (std::size_t i = count / 3; i < count / 2; ++i) values.get(asked[i].item, asked[i].pe);
    values.get_each(count - count / 2, [&](std::size_t i) { return asked[count / 2 + i]; });
    values.done();
    for (std::size_t i = 0; i < count; ++i) CHECK(got[i] == value_of(asked[i].item, asked[i].pe));
  }
}

}  // namespace

int main() {
  shmem_init();
  for (const auto buffers : {lull::aggregate_buffers::per_pe, lull::aggregate_buffers::per_node})
    for (const int hops : {1, 2, 3})
      for (const std::size_t bytes : {std::size_t{512}, std::size_t{0}}) {
        const lull::aggregate_options options{.buffers = buffers, .hops = hops, .buffer_bytes = bytes};
        bulk(options);
        bulk_gathers(options);
      }
  finish();
  return 0;
}
