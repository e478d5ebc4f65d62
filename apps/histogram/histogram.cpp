// histogram: every PE adds one to bins that lie all over the job, the smallest of all small messages.
//
// The table is spread over the PEs in equal blocks. `--mode direct` makes one remote atomic of each update,
// `aggregated` pushes it into an aggregator. The result is verified: a checksum weighted by position over all bins must
// equal the one over all indices. Time and energy are those of the region "updates"; metrics go into the record of the
// run
// (`lull measure -- lull run -n 4 histogram`).
#include <fmt/format.h>
#include <lull/meter.h>
#include <shmem.h>
#include <shmemx.h>
#include <time.h>
#include <lull/aggregate.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "indices.hpp"

namespace {

using std::uint64_t;

struct options {
  std::string mode = "aggregated";
  uint64_t updates = 1'000'000;
  uint64_t table = 10'000;
  uint64_t seed = 1;
  std::string input;
  double min_time = 0;
};

struct target {
  std::uint32_t pe;
  std::uint32_t word;
};

double clock_seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// One line from PE 0, and the job ends. All PEs find the same mistake, so the others only wait for the end.
[[noreturn]] void refuse(const std::string& line, int code) {
  if (shmem_my_pe() == 0) {
    fmt::print(stderr, "histogram: {}\n", line);
    shmem_global_exit(code);
  }
  shmem_barrier_all();
  std::exit(code);
}

options parse(int argc, char** argv) {
  options wanted;
  CLI::App app{"Histogram: every PE increments bins spread over all PEs.", "histogram"};
  app.option_defaults()->always_capture_default();
  app.add_option("--mode", wanted.mode, "How an update travels: one remote atomic each, or aggregated")
      ->check(CLI::IsMember({"direct", "aggregated"}));
  app.add_option("--updates", wanted.updates, "Updates of each PE, uniform at random")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
  app.add_option("--table", wanted.table, "Bins on each PE (with --input: as many as the indices need)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 32));
  app.add_option("--seed", wanted.seed, "Seed of the random indices");
  app.add_option("--input", wanted.input, "Read the indices from a file: raw uint64, or an integer array *.npy");
  app.add_option("--min-time", wanted.min_time, "Repeat the updates, after a warm-up, for at least so many seconds")
      ->check(CLI::Range(0.0, 3600.0));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    if (shmem_my_pe() == 0) fmt::print("{}", app.help());
    shmem_finalize();
    std::exit(0);
  } catch (const CLI::ParseError& mistake) {
    refuse(std::string(mistake.what()) + "; --help shows the options", 2);
  }
  if (!wanted.input.empty() && app.count("--table") == 0) wanted.table = 0;
  return wanted;
}

class reduction {  // sums over all PEs; collective
 public:
  reduction() : cell_(static_cast<uint64_t*>(shmem_calloc(1, sizeof(uint64_t)))) {}
  ~reduction() { shmem_free(cell_); }
  reduction(const reduction&) = delete;
  reduction& operator=(const reduction&) = delete;
  uint64_t sum(uint64_t mine) {
    shmem_uint64_atomic_add(cell_, mine, 0);
    shmem_barrier_all();
    const uint64_t total = shmem_uint64_atomic_fetch(cell_, 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) *cell_ = 0;
    shmem_barrier_all();
    return total;
  }

 private:
  uint64_t* cell_;
};

uint64_t weight(uint64_t bin) {  // splitmix64's finaliser: any misplaced update changes the sum
  bin += 0x9e3779b97f4a7c15;
  bin = (bin ^ (bin >> 30)) * 0xbf58476d1ce4e5b9;
  bin = (bin ^ (bin >> 27)) * 0x94d049bb133111eb;
  return bin ^ (bin >> 31);
}

void update_directly(std::span<const target> targets, uint64_t* table) {
  for (const target& t : targets) shmem_uint64_atomic_inc(table + t.word, static_cast<int>(t.pe));
  shmem_barrier_all();
}

template <class Aggregator>
void update_aggregated(std::span<const target> targets, Aggregator& updates) {
  for (const target& t : targets) updates.push(t.word, static_cast<int>(t.pe));
  updates.done();
}

// How many passes fill `seconds`, found by warm-ups that double until they last a fifth of that: the first passes run
// into cold caches and clocks. All PEs come to the same answer.
template <class Pass>
uint64_t passes_for(double seconds, Pass&& pass, reduction& all) {
  for (uint64_t passes = 1;; passes *= 2) {
    shmem_barrier_all();
    const double begin = clock_seconds(CLOCK_MONOTONIC);
    for (uint64_t i = 0; i < passes; ++i) pass();
    const auto nanoseconds = static_cast<uint64_t>((clock_seconds(CLOCK_MONOTONIC) - begin) * 1e9);
    const double mean = static_cast<double>(all.sum(nanoseconds)) * 1e-9 / shmem_n_pes();
    if (mean * 5 >= seconds)
      return std::max(uint64_t{1}, static_cast<uint64_t>(std::ceil(static_cast<double>(passes) * seconds / mean)));
  }
}

int run(const options& wanted) {
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  const auto my_pe = static_cast<uint64_t>(me), all_pes = static_cast<uint64_t>(pes);

  uint64_t words = wanted.table;
  std::vector<uint64_t> indices;
  if (wanted.input.empty()) {
    indices = histogram::uniform_indices(wanted.seed, me, wanted.updates, words * all_pes);
  } else {
    auto share = histogram::read_share(wanted.input, me, pes);
    if (words == 0) words = (share.bins + all_pes - 1) / all_pes;
    if (words > uint64_t{1} << 32 || share.bins > words * all_pes)
      refuse(
          fmt::format("the largest index in {} is {}, the table has {} bins on each of {} PEs; give a larger --table "
                      "(up to 2^32)",
                      wanted.input, share.bins - 1, words, pes),
          1);
    indices = std::move(share.indices);
  }

  auto* const table = static_cast<uint64_t*>(shmem_calloc(words, sizeof(uint64_t)));
  if (!table)
    refuse(fmt::format("no room for {} bins on each PE; raise SHMEM_SYMMETRIC_SIZE above {} MiB", words,
                       words * sizeof(uint64_t) >> 20),
           1);
  std::vector<target> targets;
  targets.reserve(indices.size());
  uint64_t expected = 0;
  for (const uint64_t index : indices) {
    targets.push_back({static_cast<std::uint32_t>(index / words), static_cast<std::uint32_t>(index % words)});
    expected += weight(index);
  }

  lull::aggregator aggregator{lull::items<uint64_t>, [table](uint64_t word) { ++table[word]; }};
  const auto pass = [&] {
    if (wanted.mode == "direct")
      update_directly(targets, table);
    else
      update_aggregated(std::span<const target>(targets), aggregator);
  };
  reduction all;

  uint64_t passes = 1;
  if (wanted.min_time > 0) {
    passes = passes_for(wanted.min_time, pass, all);
    std::fill_n(table, words, 0);
  }

  shmem_barrier_all();
  shmemx_wait_stats_t before, after;
  shmemx_wait_stats(&before);
  lull_region_begin("updates");
  const double wall_begin = clock_seconds(CLOCK_MONOTONIC), cpu_begin = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
  for (uint64_t i = 0; i < passes; ++i) pass();
  shmem_barrier_all();
  const double wall = clock_seconds(CLOCK_MONOTONIC) - wall_begin;
  const double cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin;
  lull_region_end("updates");
  shmemx_wait_stats(&after);

  uint64_t found = 0, counted = 0;
  for (uint64_t word = 0; word < words; ++word) {
    found += table[word] * weight(my_pe * words + word);
    counted += table[word];
  }
  const uint64_t updates = all.sum(indices.size() * passes);
  const bool right = all.sum(found) == passes * all.sum(expected) && all.sum(counted) == updates;
  const double cpu_ns = static_cast<double>(all.sum(static_cast<uint64_t>(cpu * 1e9))) / static_cast<double>(updates);
  const auto asleep_ns = static_cast<double>(all.sum(static_cast<uint64_t>(after.ns_asleep - before.ns_asleep)));
  const uint64_t missed = all.sum(after.missed - before.missed);

  if (me == 0) {
    const double rate = static_cast<double>(updates) / wall;
    lull_metric("updates", static_cast<double>(updates), "1");
    lull_metric("updates_per_second", rate, "1/s");
    lull_metric("cpu_ns_per_update", cpu_ns, "ns");
    fmt::print("histogram: {} PE{} on {} node{}{}, {}, {} updates on {} bins\n", pes, pes == 1 ? "" : "s",
               shmemx_n_nodes(), shmemx_n_nodes() == 1 ? "" : "s",
               shmemx_oversubscribed() ? " (more PEs than cores)" : "", wanted.mode, updates, words * all_pes);
    fmt::print("  {:.4g} M updates/s per PE, {:.4g} ns CPU per update, {:.3g} % of the time asleep{}\n",
               rate * 1e-6 / pes, cpu_ns, 100 * asleep_ns * 1e-9 / (wall * pes),
               missed ? fmt::format(", {} missed wake-ups", missed) : "");
    fmt::print("  result {}\n", right ? "verified" : "WRONG");
  }
  shmem_free(table);
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  int code = 1;
  try {
    code = run(parse(argc, argv));
  } catch (const std::bad_alloc&) {
    refuse("no room for the aggregation buffers; raise SHMEM_SYMMETRIC_SIZE or lower LULL_AGGREGATE_SLOT", 1);
  } catch (const std::exception& failure) {
    refuse(failure.what(), 1);
  }
  shmem_finalize();
  return code;
}
