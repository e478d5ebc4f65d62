// Words of a table that is distributed in equal blocks over all PEs, chosen at random or by a file of indices.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace irregular {

inline constexpr std::uint64_t most_words = std::uint64_t{1} << 32U;  // of a PE

struct target {
  std::uint32_t pe;
  std::uint32_t word;  // of that PE
};

struct target_options {
  std::uint64_t count = 1'000'000;  // for each thread of each PE
  std::uint64_t table = 10'000;     // words, likewise; 0: as many as the indices of the input require
  std::string input;
};

struct targets {
  std::vector<target> mine;
  std::uint64_t words;  // on each PE
  [[nodiscard]] std::uint64_t index_of(const target& t) const { return t.pe * words + t.word; }
};

// Throws std::runtime_error with one line, the same on all PEs.
[[nodiscard]] targets find_targets(const target_options& wanted, unsigned threads, std::uint64_t seed,
                                   const std::string& words);

}  // namespace irregular
