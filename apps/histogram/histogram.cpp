// histogram: every PE increments bins that are distributed over all PEs, which gives the smallest of all messages.
//
// The table is distributed over the PEs in equal blocks. `--mode direct` makes one remote atomic of each update; the
// other modes push it into an aggregator. The result is verified: a checksum weighted by position over all bins must
// equal the one over all indices. Time and energy are those of the region "updates"; metrics go into the record of the
// run (`lull measure -- lull run -n 4 histogram`).
#include <fmt/format.h>
#include <lull/meter.h>
#include <shmem.h>

#include <algorithm>
#include <cstdint>
#include <lull/aggregate.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "histogram/options.hpp"
#include "irregular/measurement.hpp"
#include "irregular/program.hpp"
#include "irregular/reduction.hpp"
#include "irregular/scramble.hpp"
#include "irregular/symmetric.hpp"
#include "irregular/targets.hpp"
#include "irregular/thread_pool.hpp"

namespace {

using histogram::options;
using irregular::scrambled;
using irregular::target;
using std::uint64_t;

struct increment {
  uint64_t* table;
  void operator()(uint64_t word) const { ++table[word]; }
  // The words of a page form a part: no two threads change words of one cache line.
  static std::size_t part(uint64_t word) { return word / 512; }
  void direct(uint64_t word, int pe) const { shmem_uint64_atomic_inc(table + word, pe); }
};
using updater = lull::aggregator<uint64_t, increment>;

void pass_directly(std::span<const target> targets, uint64_t* table, irregular::thread_pool& threads) {
  threads.share(targets.size(), [=](unsigned, std::size_t begin, std::size_t end) {
    for (const target& t : targets.subspan(begin, end - begin))
      shmem_uint64_atomic_inc(table + t.word, static_cast<int>(t.pe));
  });
  shmem_barrier_all();
}

void pass_aggregated(std::span<const target> targets, updater& updates, irregular::thread_pool& threads) {
  if (threads.size() == 1)
    updates.push_each(targets.size(), [&](std::size_t i) {
      return std::pair<uint64_t, std::uint32_t>(targets[i].word, targets[i].pe);
    });
  else
    threads.share(targets.size(), [&](unsigned, std::size_t begin, std::size_t end) {
      auto mine = updates.pusher();
      mine.push_each(end - begin, [share = targets.subspan(begin)](std::size_t i) {
        return std::pair<uint64_t, std::uint32_t>(share[i].word, share[i].pe);
      });
    });
  updates.done();
}

int run(const options& wanted) {
  const auto targets = irregular::find_targets(wanted, wanted.threads, wanted.seed, "bins");
  const irregular::symmetric_array<uint64_t> table(targets.words, fmt::format("{} bins", targets.words));
  irregular::reduction all;
  irregular::thread_pool threads(wanted.threads);
  std::optional<updater> updates;
  if (!wanted.direct()) updates.emplace(lull::items_of<uint64_t>{}, increment{table.data()}, wanted.policy());

  const auto passes_of = [&](uint64_t passes, irregular::stopwatch& watch) {
    watch.start();
    for (uint64_t i = 0; i < passes; ++i) {
      if (updates)
        pass_aggregated(targets.mine, *updates, threads);
      else
        pass_directly(targets.mine, table.data(), threads);
    }
    watch.stop();
  };
  const uint64_t passes = irregular::passes_for(wanted.min_time, passes_of, all);
  std::ranges::fill(table.all(), 0);

  const auto before = updates ? updates->statistics() : lull::aggregate_statistics{};
  irregular::stopwatch watch("updates");
  passes_of(passes, watch);
  const std::string aggregation = updates ? irregular::told(before, updates->statistics(), all) : "";

  uint64_t expected = 0, found = 0, counted = 0;
  for (const target& t : targets.mine) expected += scrambled(targets.index_of(t));
  const auto me = static_cast<std::uint32_t>(shmem_my_pe());
  for (std::uint32_t word = 0; word < table.size(); ++word) {
    found += table[word] * scrambled(targets.index_of({me, word}));
    counted += table[word];
  }
  const uint64_t mine = targets.mine.size() * passes;
  const bool right = all.sum(found) == passes * all.sum(expected) && all.sum(counted) == all.sum(mine);

  const uint64_t bins = targets.words * static_cast<uint64_t>(shmem_n_pes());
  const auto seen = irregular::report({.program = "histogram",
                                       .item = "update",
                                       .items = mine,
                                       .where = fmt::format("on {} bins", bins),
                                       .found = "",
                                       .result = right ? "verified" : "WRONG"},
                                      wanted, watch, aggregation, all);
  if (shmem_my_pe() == 0) {
    lull_metric_sum("updates", seen.items, "1");
    lull_metric_sum("updates_per_second", seen.items_per_second, "1/s");
    lull_metric_mean("cpu_ns_per_update", seen.cpu_ns_per_item, "ns");
  }
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return irregular::run_program("histogram", "Histogram: every PE increments bins spread over all PEs.", argc, argv,
                                histogram::add_options, run);
}
