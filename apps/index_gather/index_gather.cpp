// index_gather: every PE reads words that are distributed over all PEs, and needs them in the order of its requests.
//
// The table is distributed over the PEs in equal blocks. `--mode direct` makes one blocking get of each request; the
// other modes use a gatherer or, with `--cache`, a reader that keeps lines of the table. The result is verified word by
// word: a word follows from its index. Time and energy are those of the region "requests"; metrics go into the record
// of the run (`lull measure -- lull run -n 4 index_gather`).
#include <fmt/format.h>
#include <shmem.h>

#include <algorithm>
#include <cstdint>
#include <lull/aggregate.hpp>
#include <lull/aggregate_cache.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "index_gather/options.hpp"
#include "irregular/measurement.hpp"
#include "irregular/program.hpp"
#include "irregular/reduction.hpp"
#include "irregular/scramble.hpp"
#include "irregular/symmetric.hpp"
#include "irregular/targets.hpp"
#include "irregular/thread_pool.hpp"

namespace {

using index_gather::options;
using irregular::scrambled;
using irregular::target;
using std::uint64_t;

struct stored_word {
  const uint64_t* table;
  uint64_t operator()(uint64_t word) const { return table[word]; }
  uint64_t direct(uint64_t word, int pe) const { return shmem_uint64_g(table + word, pe); }
};
using words_asked_for = lull::gatherer<uint64_t, stored_word>;
using words_kept = lull::table_reader<uint64_t>;

void pass_directly(std::span<const target> targets, const uint64_t* table, std::span<uint64_t> values,
                   irregular::thread_pool& threads) {
  threads.share(targets.size(), [=](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      values[i] = shmem_uint64_g(table + targets[i].word, static_cast<int>(targets[i].pe));
  });
}

void pass_aggregated(std::span<const target> targets, words_asked_for& words, std::span<uint64_t> values,
                     irregular::thread_pool& threads) {
  words.into(values);
  if (threads.size() == 1)
    words.get_each(targets.size(),
                   [&](std::size_t i) { return std::pair<uint64_t, std::uint32_t>(targets[i].word, targets[i].pe); });
  else
    threads.share(targets.size(), [&](unsigned, std::size_t begin, std::size_t end) {
      auto mine = words.getter(begin);
      mine.get_each(end - begin, [share = targets.subspan(begin)](std::size_t i) {
        return std::pair<uint64_t, std::uint32_t>(share[i].word, share[i].pe);
      });
    });
  words.done();
}

void pass_cached(std::span<const target> targets, words_kept& words, std::span<uint64_t> values) {
  words.into(values);
  for (const target& t : targets) words.get(t.word, static_cast<int>(t.pe));
  words.done();
}

std::string cache_told(const lull::aggregate_statistics& before, const lull::aggregate_statistics& after,
                       irregular::reduction& all) {
  const uint64_t hits = all.sum(after.cache_hits - before.cache_hits);
  const uint64_t misses = all.sum(after.cache_misses - before.cache_misses);
  return fmt::format("; {} of {} requests to other nodes found in the cache", hits, hits + misses);
}

int run(const options& wanted) {
  if (wanted.cache && (wanted.direct() || wanted.threads > 1))
    throw irregular::usage_error(
        fmt::format("--cache with {}: the cache serves one thread and fetches its lines through aggregation",
                    wanted.direct() ? "--mode direct" : "--threads"));
  const auto targets = irregular::find_targets(wanted, wanted.threads, wanted.seed, "words");
  const irregular::symmetric_array<uint64_t> table(targets.words, fmt::format("{} words", targets.words));
  const auto me = static_cast<std::uint32_t>(shmem_my_pe());
  for (std::uint32_t word = 0; word < table.size(); ++word) table[word] = scrambled(targets.index_of({me, word}));
  std::vector<uint64_t> values(targets.mine.size());
  irregular::reduction all;
  irregular::thread_pool threads(wanted.threads);
  std::optional<words_asked_for> words;
  std::optional<words_kept> kept;
  if (wanted.cache)
    kept.emplace(table.data(), targets.words, wanted.policy());
  else if (!wanted.direct())
    words.emplace(lull::items_of<uint64_t>{}, stored_word{table.data()}, wanted.policy_of_many_handlers());

  const auto passes_of = [&](uint64_t passes, irregular::stopwatch& watch) {
    watch.start();
    for (uint64_t i = 0; i < passes; ++i) {
      if (kept)
        pass_cached(targets.mine, *kept, values);
      else if (words)
        pass_aggregated(targets.mine, *words, values, threads);
      else
        pass_directly(targets.mine, table.data(), values, threads);
    }
    watch.stop();
  };
  const uint64_t passes = irregular::passes_for(wanted.min_time, passes_of, all);
  std::ranges::fill(values, 0);

  const auto statistics = [&] {
    return kept ? kept->statistics() : words ? words->statistics() : lull::aggregate_statistics{};
  };
  const auto before = statistics();
  irregular::stopwatch watch("requests");
  passes_of(passes, watch);
  const auto after = statistics();
  std::string aggregation = wanted.direct() ? "" : irregular::told(before, after, all);
  if (kept) aggregation += cache_told(before, after, all);

  uint64_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) wrong += values[i] != scrambled(targets.index_of(targets.mine[i]));
  const bool right = all.sum(wrong) == 0;
  const uint64_t table_words = targets.words * static_cast<uint64_t>(shmem_n_pes());
  irregular::report({.program = "index_gather",
                     .item = "request",
                     .items = targets.mine.size() * passes,
                     .where = fmt::format("to {} words", table_words),
                     .found = "",
                     .result = right ? "verified" : "WRONG"},
                    wanted, watch, aggregation, all);
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return irregular::run_program("index_gather",
                                "Index gather: every PE reads words spread over all PEs, in the order of its indices.",
                                argc, argv, index_gather::add_options, run);
}
