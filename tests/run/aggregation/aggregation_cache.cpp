// A table_reader reads the content of the table: any words, caches and lines, any routes, phases of any size, and
// nothing from before a phase or a barrier.
#include <lull/aggregate_cache.hpp>

#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"

namespace {

using lull::aggregate_options;

template <std::size_t Bytes>
struct word {
  unsigned char bytes[Bytes];
  bool operator==(const word&) const = default;
};

template <class T>
T value_of(int pe, std::uint64_t index, unsigned version) {
  T made;
  auto* const bytes = reinterpret_cast<unsigned char*>(&made);
  std::uint64_t state = index * 64 + static_cast<std::uint64_t>(pe) * 7 + version * 1001 + 1;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    bytes[i] = static_cast<unsigned char>(state >> 56U);
  }
  return made;
}

// Symmetric and filled, followed by words that belong to no one.
template <class T>
struct table {
  explicit table(std::uint64_t count) : words(count), values(symmetric<T>(count + 1)) { change(); }
  ~table() {
    shmem_barrier_all();
    shmem_free(values);
  }
  table(const table&) = delete;
  table& operator=(const table&) = delete;

  void change() {
    ++version;
    for (std::uint64_t i = 0; i < words; ++i) values[i] = value_of<T>(shmem_my_pe(), i, version);
    shmem_barrier_all();
  }
  std::uint64_t words;
  T* values;
  unsigned version = 0;
};

enum class pattern { nothing, one_word, random, sequential, often_the_same };

std::uint64_t seed = 1;

struct asked {
  std::uint64_t index;
  int pe;
};

std::vector<asked> make(pattern how, std::uint64_t words, std::size_t most) {
  const auto pes = static_cast<unsigned>(shmem_n_pes());
  std::mt19937 random(static_cast<unsigned>(shmem_my_pe()) * 1000 + static_cast<unsigned>(seed));
  std::vector<asked> all;
  if (words == 0 || how == pattern::nothing) return all;
  all.resize(how == pattern::one_word ? 1 : random() % most + 1);
  const std::uint64_t begin = random() % words;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto pe = static_cast<int>(random() % pes);
    switch (how) {
      case pattern::sequential:
        all[k] = {(begin + k) % words, static_cast<int>((begin + k) / words % pes)};
        break;
      case pattern::often_the_same:
        all[k] = {random() % 4 == 0 ? random() % words : words - 1, pe};
        break;
      default:
        all[k] = {random() % words, pe};
    }
  }
  return all;
}

template <class T>
void values_are_those_of_the_table(std::uint64_t words, const aggregate_options& options, std::size_t most = 1000) {
  table<T> of(words);
  lull::table_reader reader{of.values, words, options};
  std::uint64_t gets = 0;
  for (const pattern how : {pattern::random, pattern::nothing, pattern::one_word, pattern::sequential,
                            pattern::often_the_same, pattern::random, pattern::often_the_same}) {
    ++seed;
    const auto all = make(how, words, most);
    std::vector<T> values(all.size());
    reader.into(values);
    for (const asked& one : all) reader.get(one.index, one.pe);
    if (seed % 2 == 0) reader.advance();
    reader.done();
    for (std::size_t k = 0; k < all.size(); ++k) CHECK(values[k] == value_of<T>(all[k].pe, all[k].index, of.version));
    gets += all.size();
    of.change();  // after done(), before a barrier
  }
  const lull::aggregate_statistics now = reader.statistics();
  CHECK(now.items == gets);
  CHECK(now.phases == 7);
  const bool can_cache = options.cache_bytes != 0 && shmemx_n_nodes() > 1;
  if (!can_cache) CHECK(now.cache_hits + now.cache_misses == 0);
  CHECK(now.cache_hits + now.cache_misses <= gets);
}

void after_a_barrier_within_a_phase_nothing_old_is_seen(const aggregate_options& options) {
  using T = std::uint64_t;
  constexpr std::uint64_t words = 40;
  table<T> of(words);
  lull::table_reader reader{of.values, words, options};
  const int there = (shmem_my_pe() + shmem_n_pes() / 2) % shmem_n_pes();
  constexpr std::uint64_t gets = 12;  // few enough to stay in buffers
  for (int phase = 0; phase < 3; ++phase) {
    std::vector<T> values(3 * gets);
    reader.into(values);
    const unsigned before = of.version;
    for (std::uint64_t i = 0; i < gets; ++i) reader.get(i, there);
    if (phase == 1) reader.advance();
    shmem_barrier_all();
    of.change();
    for (std::uint64_t i = 0; i < gets; ++i) reader.get(i, there);
    shmem_barrier_all();
    of.change();
    for (std::uint64_t i = 0; i < gets; ++i) reader.get(i, there);
    reader.done();
    for (std::uint64_t i = 0; i < gets; ++i) {
      const auto is_at_least = [&](std::uint64_t k, unsigned version) {
        for (; version <= of.version; ++version)
          if (values[k] == value_of<T>(there, i, version)) return true;
        return false;
      };
      CHECK(is_at_least(i, before));
      CHECK(is_at_least(gets + i, before + 1));
      CHECK(is_at_least(2 * gets + i, before + 2));
    }
    shmem_barrier_all();
  }
}

// A PE of another node, or -1.
int elsewhere() {
  for (int pe = 0; pe < shmem_n_pes(); ++pe)
    if (shmemx_node_of(pe) != shmemx_node_of(shmem_my_pe())) return pe;
  return -1;
}

void a_word_asked_again_is_answered_by_the_cache() {
  table<std::uint64_t> of(64);
  lull::table_reader reader{of.values, of.words, {.direct = 0}};
  const int there = elsewhere();
  std::vector<std::uint64_t> values(1000);
  reader.into(values);
  if (there >= 0)
    for (std::size_t k = 0; k < values.size(); ++k) reader.get(k % 8, there);
  reader.done();
  const auto now = reader.statistics();
  if (there >= 0) {
    CHECK(now.cache_hits == 999 && now.cache_misses == 1);
    CHECK(now.direct_items == 0);
    CHECK(now.memory_bytes > (std::size_t{1} << 20U) * 9 / 10);
  } else {
    CHECK(now.cache_hits + now.cache_misses == 0 && now.memory_bytes == 0);
  }
}

void words_travel_where_lines_lose() {
  constexpr std::uint64_t words = 1'000'000, gets = 6000;
  table<std::uint64_t> of(words);
  lull::table_reader reader{of.values, words, {.compress = 0, .direct = 0}};
  auto* const bytes = symmetric<std::uint64_t>(1);
  const int there = elsewhere();
  std::mt19937 random(static_cast<unsigned>(shmem_my_pe()));
  std::vector<std::uint64_t> values(gets);
  reader.into(values);
  if (there >= 0)
    for (std::uint64_t k = 0; k < gets; ++k) reader.get(random() % words, there);
  reader.done();
  shmem_uint64_atomic_add(bytes, reader.statistics().remote_bytes, 0);
  shmem_barrier_all();
  // With a line of 64 bytes and a request of 8 they would be 76, or more with several hops.
  if (there >= 0 && shmem_my_pe() == 0) CHECK(*bytes < 64 * gets * static_cast<std::uint64_t>(shmem_n_pes()));
  const auto random_ones = reader.statistics();
  reader.into(values);
  if (there >= 0)
    for (std::uint64_t k = 0; k < gets; ++k) reader.get(k, there);
  reader.done();
  const auto now = reader.statistics();
  if (there >= 0) {
    CHECK(random_ones.cache_hits < gets / 10);
    CHECK(now.cache_hits - random_ones.cache_hits > gets / 2);  // lines again
  }
  shmem_barrier_all();
  shmem_free(bytes);
}

void what_cannot_be_is_refused() {
  static std::uint64_t in_the_program[4] = {};
  { const lull::table_reader fine{in_the_program, 4}; }
  const auto* const on_the_heap = new std::uint64_t[4]();
  int refused = 0;
  const auto expect = [&](auto&& make_one) {
    try {
      make_one();
    } catch (const std::invalid_argument&) {
      ++refused;
    }
  };
  expect([&] { const lull::table_reader reader{on_the_heap, 4}; });
  expect([&] { const lull::table_reader reader{in_the_program, 4, {.cache_line_bytes = 4}}; });
  expect([&] { const lull::table_reader reader{in_the_program, 4, {.cache_line_bytes = 2048}}; });
  CHECK(refused == 3);
  delete[] on_the_heap;
}

}  // namespace

int main() {
  shmem_init();
  using lull::detail::line_cache;
  values_are_those_of_the_table<std::uint64_t>(1000, {}, 6000);
  values_are_those_of_the_table<std::uint64_t>(0, {});
  values_are_those_of_the_table<std::uint64_t>(1, {});
  for (const auto buffers : {lull::aggregate_buffers::per_pe, lull::aggregate_buffers::per_node})
    for (int hops = 1; hops <= 3; ++hops) {
      const auto one_line = static_cast<long>(line_cache::bytes_of_line(64));
      for (const long cache : {0L, one_line, 50 * one_line})
        values_are_those_of_the_table<std::uint64_t>(
            77, {.buffers = buffers, .hops = hops, .direct = hops == 1, .cache_bytes = cache});
      aggregate_options options{.buffers = buffers, .hops = hops, .buffer_bytes = 512, .direct = 0};
      options.cache_line_bytes = hops == 1 ? 1024 : 8;  // the first does not fit the buffers
      values_are_those_of_the_table<word<12>>(501, options, 400);
      after_a_barrier_within_a_phase_nothing_old_is_seen({.buffers = buffers, .hops = hops, .direct = 0});
    }
  values_are_those_of_the_table<word<1>>(1001, {.cache_bytes = 1 << 15, .cache_line_bytes = 1000});
  values_are_those_of_the_table<word<64>>(33, {.compress = 1, .cache_line_bytes = 8});
  values_are_those_of_the_table<word<64>>(33, {.direct = 0, .cache_line_bytes = 256});
  a_word_asked_again_is_answered_by_the_cache();
  words_travel_where_lines_lose();
  what_cannot_be_is_refused();
  finish();
}
