// The rule by which ranks communicate: each rank of a grid with those at the same offsets, as far as they exist. It is
// found in programs of two sizes, so that it can be continued to a third.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "netsim/extrapolation/rank_grid.hpp"
#include "netsim/program/program.hpp"

namespace lull::netsim {

struct sized_program {
  const program& what;
  std::uint32_t processes;
};

// The ranks that the operations of a program's ranks name, and the groups that they use.
struct partners_found {
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;   // rank, the other
  std::set<std::pair<std::uint32_t, std::uint32_t>> groups;  // rank, number
};
[[nodiscard]] partners_found partners_of(const sized_program& p);

struct regular_pattern {
  std::vector<grid_offset> offsets;  // sorted
  rank_grid smaller, larger, wanted;
};

// The patterns that explain both programs, the simplest first. A pattern has at most 64 offsets.
[[nodiscard]] std::vector<regular_pattern> patterns_of(const sized_program& smaller, const sized_program& larger,
                                                       std::uint32_t wanted);

// The dimensions in which a group that `rank` uses extends; none if it is no section of the grid.
[[nodiscard]] std::optional<unsigned> extent_of(std::span<const std::uint32_t> group, const rank_grid& in,
                                                std::uint32_t rank);

}  // namespace lull::netsim
