#include "irregular/targets.hpp"

#include <fmt/format.h>
#include <shmem.h>

#include <stdexcept>
#include <utility>

#include "irregular/indices.hpp"
#include "irregular/program.hpp"

namespace irregular {
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
          fmt::format("the largest index in {} is {}, but the table has {} {} on each of {} PEs; give a larger --table "
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
