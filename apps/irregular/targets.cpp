#include "irregular/targets.hpp"

#include <fmt/format.h>
#include <shmem.h>

#include <stdexcept>
#include <utility>

#include "irregular/indices.hpp"
#include "irregular/program.hpp"

namespace irregular {
namespace {

constexpr std::uint64_t most_words = std::uint64_t{1} << 32U;

}  // namespace

void add_target_options(CLI::App& app, target_options& wanted, const std::string& items, const std::string& words) {
  app.add_option("--" + items + ",--items", wanted.count,
                 fmt::format("{} for each thread of each PE, uniform at random", items))
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32U))
      ->option_text("N  [1000000]");
  app.add_option("--table", wanted.table,
                 fmt::format("{} for each thread of each PE (with --input: as many as the indices need)", words))
      ->check(CLI::Range(std::uint64_t{1}, most_words))
      ->option_text("N  [10000]");
  app.add_option("--input", wanted.input, "Read the indices from a file: raw uint64, or an integer array *.npy")
      ->option_text("FILE");
  app.parse_complete_callback([&app, &wanted] {
    if (!wanted.input.empty() && app.count("--table") == 0) wanted.table = 0;
  });
}

targets find_targets(const target_options& wanted, unsigned threads, std::uint64_t seed, const std::string& words) {
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  const auto all_pes = static_cast<std::uint64_t>(pes);
  targets found{{}, wanted.table * threads};
  if (found.words > most_words)
    throw usage_error(fmt::format("--table {} for each of {} threads: a PE holds up to 2^32 {}; lower --table",
                                  wanted.table, threads, words));
  std::vector<std::uint64_t> indices;
  if (wanted.input.empty()) {
    indices = uniform_indices(seed, me, wanted.count * threads, found.words * all_pes);
  } else {
    auto share = read_share(wanted.input, me, pes);
    if (found.words == 0) found.words = share.bound / all_pes + (share.bound % all_pes != 0);
    if (found.words > most_words || (share.bound - 1) / found.words >= all_pes)
      throw std::runtime_error(
          fmt::format("the largest index in {} is {}, the table has {} {} on each of {} PEs; give a larger --table "
                      "(up to 2^32)",
                      wanted.input, share.bound - 1, found.words, words, pes));
    indices = std::move(share.indices);
  }
  found.mine.reserve(indices.size());
  for (const std::uint64_t index : indices)
    found.mine.push_back(
        {static_cast<std::uint32_t>(index / found.words), static_cast<std::uint32_t>(index % found.words)});
  return found;
}

}  // namespace irregular
