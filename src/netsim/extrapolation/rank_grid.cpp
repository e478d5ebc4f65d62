#include "netsim/extrapolation/rank_grid.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "netsim/workload/process_grid.hpp"

namespace lull::netsim {
namespace {

using sizes = std::array<std::uint32_t, 3>;

sizes balanced(std::uint32_t ranks, std::uint32_t dimensions) {
  sizes sides{1, 1, 1};
  std::ranges::transform(cubic_grid(ranks, dimensions), sides.begin(),
                         [](std::int64_t side) { return static_cast<std::uint32_t>(side); });
  return sides;
}

sizes reversed(sizes s, std::uint32_t dimensions) {
  std::reverse(s.begin(), s.begin() + dimensions);
  return s;
}

}  // namespace

std::optional<std::uint32_t> rank_grid::neighbour(std::uint32_t rank, const grid_offset& by) const {
  const auto at = place(rank);
  sizes to{};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto length = static_cast<std::int64_t>(size[d]);
    std::int64_t p = static_cast<std::int64_t>(at[d]) + by[d];
    if (closed[d]) p = (p % length + length) % length;
    if (p < 0 || p >= length) return std::nullopt;
    to[d] = static_cast<std::uint32_t>(p);
  }
  return to[0] + size[0] * (to[1] + size[1] * to[2]);
}

grid_offset rank_grid::between(std::uint32_t from, std::uint32_t to) const {
  const auto a = place(from), b = place(to);
  grid_offset by{};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto length = static_cast<std::int32_t>(size[d]);
    std::int32_t difference = static_cast<std::int32_t>(b[d]) - static_cast<std::int32_t>(a[d]);
    if (closed[d]) {
      if (2 * difference > length) difference -= length;
      if (2 * difference <= -length) difference += length;
    }
    by[d] = difference;
  }
  return by;
}

std::vector<std::uint32_t> rank_grid::section(std::uint32_t rank, unsigned varying) const {
  const auto at = place(rank);
  std::vector<std::uint32_t> found;
  for (std::uint32_t other = 0; other < ranks(); ++other) {
    const auto there = place(other);
    bool same = true;
    for (unsigned d = 0; d < 3; ++d) same = same && ((varying >> d & 1U) != 0 || there[d] == at[d]);
    if (same) found.push_back(other);
  }
  return found;
}

std::string rank_grid::in_words() const {
  return fmt::format("{}", fmt::join(size.begin(), size.begin() + dimensions(), " x "));
}

std::vector<rank_grid> grids_of(std::uint32_t ranks) {
  std::vector<rank_grid> found{{.size = {ranks, 1, 1}}};
  std::vector<rank_grid> of_three;
  for (std::uint32_t a = 2; a <= ranks / 2; ++a) {
    if (ranks % a != 0) continue;
    const std::uint32_t rest = ranks / a;
    found.push_back({.size = {a, rest, 1}});
    for (std::uint32_t b = 2; b <= rest / 2; ++b)
      if (rest % b == 0) of_three.push_back({.size = {a, b, rest / b}});
  }
  found.insert(found.end(), of_three.begin(), of_three.end());
  return found;
}

std::optional<rank_grid> continued(const rank_grid& first, const rank_grid& second, std::uint32_t ranks) {
  const std::uint32_t dimensions = second.dimensions();
  rank_grid next{.closed = second.closed};
  if (first.dimensions() == dimensions) {
    const sizes of_first = balanced(first.ranks(), dimensions), of_second = balanced(second.ranks(), dimensions);
    next.size = balanced(ranks, dimensions);
    if (next.dimensions() == dimensions) {
      if (first.size == reversed(of_first, dimensions) && second.size == reversed(of_second, dimensions)) {
        next.size = reversed(next.size, dimensions);
        return next;
      }
      if (first.size == of_first && second.size == of_second) return next;
    }
  }
  next.size = second.size;
  std::optional<std::size_t> longer;
  for (std::size_t d = 0; d < 3; ++d) {
    if (first.size[d] == second.size[d]) continue;
    if (longer) return std::nullopt;
    longer = d;
  }
  const std::uint32_t others = longer ? second.ranks() / second.size[*longer] : 0;
  if (others == 0 || ranks % others != 0) return std::nullopt;
  next.size[*longer] = ranks / others;
  return next;
}

}  // namespace lull::netsim
