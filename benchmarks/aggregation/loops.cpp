// loops: the inner loops of aggregation, in turn with the same cores on tables of their own.
//
//   loops ITEMS ROUNDS WHAT...        ITEMS per PE in a pass
//
// All PEs run each WHAT at the same time. "local" loops are the ceiling: plain increments or loads on a local table of
// the size of one PE's share. Indices are precomputed. "direct" loops make a remote atomic or get of each item.
// stream_small generates its items as it pushes them. few_N_..., to_one_... and at_home_... are phases of N items per
// PE, of items only for PE 0, and of items only for the PE itself, each ended by done() or a barrier. PE 0 prints one
// JSON object for each WHAT and round of the benchmark: wall nanoseconds per item of the slowest PE, and the mean CPU
// nanoseconds per item over all PEs; and at the end one with the largest memory of a PE.
#include <shmem.h>
#include <sys/resource.h>
#include <time.h>
#include <lull/aggregate.hpp>
#include <lull/aggregate_bins.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using std::uint64_t;

constexpr uint64_t small_table = 10'000, large_table = (256ULL << 20) / sizeof(uint64_t);

struct target {
  std::uint32_t pe, word;
};

std::int64_t nanoseconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

struct addressed {
  uint64_t item;
  std::uint32_t pe;
};

// The tables, symmetric so that they can also be accessed without aggregation.
struct bench {
  std::size_t items;
  std::map<uint64_t, uint64_t*> tables;
  std::map<uint64_t, std::vector<target>> targets;
  std::vector<uint64_t> values;
  uint64_t handled = 0;

  explicit bench(std::size_t n) : items(n), values(0) {}

  uint64_t* table(uint64_t words) {
    uint64_t*& made = tables[words];
    if (made == nullptr) {
      made = static_cast<uint64_t*>(shmem_malloc(words * sizeof(uint64_t)));
      if (made == nullptr) {
        std::fprintf(stderr, "loops: no room for %llu words; raise SHMEM_SYMMETRIC_SIZE\n",
                     static_cast<unsigned long long>(words));
        shmem_global_exit(1);
      }
      for (uint64_t i = 0; i < words; ++i) made[i] = i ^ static_cast<uint64_t>(shmem_my_pe());
    }
    return made;
  }
  const std::vector<target>& where(uint64_t words) {
    std::vector<target>& made = targets[words];
    if (made.empty()) {
      std::mt19937_64 random(static_cast<uint64_t>(shmem_my_pe()) + 1);
      const auto pes = static_cast<uint64_t>(shmem_n_pes());
      made.resize(items);
      for (target& t : made) {
        const uint64_t r = random();
        t = {static_cast<std::uint32_t>((r >> 32U) % pes), static_cast<std::uint32_t>((r & 0xffffffffU) % words)};
      }
    }
    return made;
  }
};

using pass = std::function<void()>;

pass local_increments(bench& b, uint64_t words) {
  return [&where = b.where(words), table = b.table(words)] {
    for (const target& t : where) ++table[t.word];
  };
}

pass local_loads(bench& b, uint64_t words) {
  b.values.resize(b.items);
  return [&b, &where = b.where(words), table = b.table(words)] {
    uint64_t* to = b.values.data();
    for (const target& t : where) *to++ = table[t.word];
  };
}

pass histogram(bench& b, uint64_t words) {
  const auto handler = [table = b.table(words)](uint64_t word) { ++table[word]; };
  auto made = std::make_shared<lull::aggregator<uint64_t, decltype(handler)>>(lull::items_of<uint64_t>{}, handler);
  return [made, &where = b.where(words)] {
    for (const target& t : where) made->push(t.word, static_cast<int>(t.pe));
    made->done();
  };
}

// Generates items as it pushes them, so that their number is unlimited.
pass stream(bench& b, uint64_t words) {
  const auto handler = [table = b.table(words)](uint64_t word) { ++table[word]; };
  auto made = std::make_shared<lull::aggregator<uint64_t, decltype(handler)>>(lull::items_of<uint64_t>{}, handler);
  return [made, words, items = b.items, pes = static_cast<uint64_t>(shmem_n_pes())] {
    uint64_t state = static_cast<uint64_t>(shmem_my_pe()) + 1;
    for (std::size_t i = 0; i < items; ++i) {
      state ^= state << 13U, state ^= state >> 7U, state ^= state << 17U;  // Marsaglia's xorshift64
      made->push((state & 0xffffffffU) % words, static_cast<int>((state >> 32U) % pes));
    }
    made->done();
  };
}

pass histogram_bulk(bench& b, uint64_t words) {
  const auto handler = [table = b.table(words)](uint64_t word) { ++table[word]; };
  auto made = std::make_shared<lull::aggregator<uint64_t, decltype(handler)>>(lull::items_of<uint64_t>{}, handler);
  return [made, &where = b.where(words)] {
    made->push_each(where.size(), [&](std::size_t i) { return addressed{where[i].word, where[i].pe}; });
    made->done();
  };
}

pass histogram_bins(bench& b, uint64_t words) {
  constexpr std::size_t bins = 128, items_in_bin = 65536;
  lull::binned handler{lull::items_of<uint64_t>{}, bins,
                       [shift = std::bit_width(words / bins - 1)](uint64_t word) { return word >> shift; },
                       [table = b.table(words)](uint64_t word) { ++table[word]; }, items_in_bin};
  auto made =
      std::make_shared<lull::aggregator<uint64_t, decltype(handler)>>(lull::items_of<uint64_t>{}, std::move(handler));
  return [made, &where = b.where(words)] {
    for (const target& t : where) made->push(t.word, static_cast<int>(t.pe));
    made->done();
  };
}

pass gather(bench& b, uint64_t words) {
  const auto handler = [table = b.table(words)](uint64_t word) { return table[word]; };
  auto made = std::make_shared<lull::gatherer<uint64_t, decltype(handler)>>(lull::items_of<uint64_t>{}, handler);
  b.values.resize(b.items);
  return [made, &b, &where = b.where(words)] {
    made->into(b.values);
    for (const target& t : where) made->get(t.word, static_cast<int>(t.pe));
    made->done();
  };
}

pass gather_bulk(bench& b, uint64_t words) {
  const auto handler = [table = b.table(words)](uint64_t word) { return table[word]; };
  auto made = std::make_shared<lull::gatherer<uint64_t, decltype(handler)>>(lull::items_of<uint64_t>{}, handler);
  b.values.resize(b.items);
  return [made, &b, &where = b.where(words)] {
    made->into(b.values);
    made->get_each(where.size(), [&](std::size_t i) { return addressed{where[i].word, where[i].pe}; });
    made->done();
  };
}

pass histogram_directly(bench& b, uint64_t words) {
  return [&where = b.where(words), table = b.table(words)] {
    for (const target& t : where) shmem_uint64_atomic_inc(table + t.word, static_cast<int>(t.pe));
    shmem_barrier_all();
  };
}

pass gather_directly(bench& b, uint64_t words) {
  b.values.resize(b.items);
  return [&b, &where = b.where(words), table = b.table(words)] {
    uint64_t* to = b.values.data();
    for (const target& t : where) *to++ = shmem_uint64_g(table + t.word, static_cast<int>(t.pe));
    shmem_barrier_all();
  };
}

struct counter {
  uint64_t* table;
  void operator()(uint64_t word) { ++table[word]; }
  void direct(uint64_t word, int pe) { shmem_uint64_atomic_inc(table + word, pe); }
};

// Phases of `count` items per PE, until all items of a pass are pushed.
pass phases_of(bench& b, std::size_t count, bool aggregated, std::function<int(const target&)> pe_of) {
  uint64_t* const table = b.table(small_table);
  std::vector<target> where = b.where(small_table);
  for (target& t : where) t.pe = static_cast<std::uint32_t>(pe_of(t));
  if (!aggregated)
    return [where = std::move(where), table, count] {
      for (std::size_t i = 0; i < where.size(); i += count) {
        for (std::size_t k = i; k < std::min(i + count, where.size()); ++k)
          shmem_uint64_atomic_inc(table + where[k].word, static_cast<int>(where[k].pe));
        shmem_barrier_all();
      }
    };
  auto made = std::make_shared<lull::aggregator<uint64_t, counter>>(lull::items_of<uint64_t>{}, counter{table});
  return [made, where = std::move(where), count] {
    for (std::size_t i = 0; i < where.size(); i += count) {
      for (std::size_t k = i; k < std::min(i + count, where.size()); ++k)
        made->push(where[k].word, static_cast<int>(where[k].pe));
      made->done();
    }
  };
}

// "few_N", "to_one" and "at_home", each followed by "_direct" or "_aggregated"; empty for anything else.
pass worst_case(const std::string& what, bench& b) {
  const bool aggregated = what.ends_with("_aggregated");
  const auto anywhere = [](const target& t) { return static_cast<int>(t.pe); };
  if (what.starts_with("few_")) return phases_of(b, std::strtoull(what.c_str() + 4, nullptr, 10), aggregated, anywhere);
  if (what.starts_with("to_one_")) return phases_of(b, b.items, aggregated, [](const target&) { return 0; });
  if (what.starts_with("at_home_"))
    return phases_of(b, b.items, aggregated, [](const target&) { return shmem_my_pe(); });
  return {};
}

pass made(const std::string& what, bench& b) {
  if (pass found = worst_case(what, b)) return found;
  const bool large = what.ends_with("_large") || what.find("_large_") != std::string::npos;
  const uint64_t words = large ? large_table : small_table;
  if (what.starts_with("stream")) return stream(b, words);
  if (what == "histogram_direct") return histogram_directly(b, words);
  if (what == "gather_direct") return gather_directly(b, words);
  if (what.starts_with("local_increments")) return local_increments(b, words);
  if (what.starts_with("local_loads")) return local_loads(b, words);
  if (what == "gather_small_bulk" || what == "gather_large_bulk") return gather_bulk(b, words);
  if (what.ends_with("_bulk")) return histogram_bulk(b, words);
  if (what == "histogram_large_bins") return histogram_bins(b, words);
  if (what.starts_with("histogram")) return histogram(b, words);
  if (what.starts_with("gather")) return gather(b, words);
  std::fprintf(stderr, "loops: %s is not known\n", what.c_str());
  shmem_global_exit(2);
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  if (argc < 4) {
    if (shmem_my_pe() == 0) std::fprintf(stderr, "usage: loops ITEMS ROUNDS WHAT...\n");
    shmem_global_exit(2);
  }
  {
    bench b(std::strtoull(argv[1], nullptr, 10));
    const int rounds = std::atoi(argv[2]);
    std::vector<pass> passes;
    for (int i = 3; i < argc; ++i) passes.push_back(made(argv[i], b));
    auto* const times = static_cast<double*>(shmem_malloc(4 * sizeof(double)));
    for (int round = -1; round < rounds; ++round)  // the first is a warm-up
      for (std::size_t i = 0; i < passes.size(); ++i) {
        shmem_barrier_all();
        const std::int64_t wall = nanoseconds(CLOCK_MONOTONIC), cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
        passes[i]();
        times[0] = static_cast<double>(nanoseconds(CLOCK_MONOTONIC) - wall) / static_cast<double>(b.items);
        times[1] = static_cast<double>(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / static_cast<double>(b.items);
        shmem_double_max_reduce(SHMEM_TEAM_WORLD, times + 2, times, 1);
        shmem_double_sum_reduce(SHMEM_TEAM_WORLD, times + 3, times + 1, 1);
        if (shmem_my_pe() == 0 && round >= 0)
          std::printf("{\"what\": \"%s\", \"round\": %d, \"wall_ns\": %.4f, \"cpu_ns\": %.4f}\n", argv[i + 3], round,
                      times[2], times[3] / shmem_n_pes());
      }
    shmem_barrier_all();
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    times[0] = static_cast<double>(used.ru_maxrss) / 1024;
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, times + 2, times, 1);
    if (shmem_my_pe() == 0) std::printf("{\"what\": \"memory\", \"peak_rss_mib\": %.1f}\n", times[2]);
  }
  shmem_finalize();
  return 0;
}
