#include "netsim/extrapolation/regular_pattern.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace lull::netsim {
namespace {

constexpr std::size_t most_offsets = 64;

// Always returns false: a traced program does not call it.
class nothing_complete final : public completions {
 public:
  [[nodiscard]] bool complete(std::uint32_t /*request*/) const override { return false; }
};

std::set<grid_offset> offsets_in(const partners_found& found, const rank_grid& grid) {
  std::set<grid_offset> offsets;
  for (const auto& [from, to] : found.pairs) {
    offsets.insert(grid.between(from, to));
    if (offsets.size() > most_offsets) break;
  }
  return offsets;
}

// Whether these offsets lead from every rank to its partners, and to no other rank.
bool explain(const std::set<grid_offset>& offsets, const partners_found& found, const rank_grid& grid) {
  std::size_t reached = 0;
  for (std::uint32_t rank = 0; rank < grid.ranks(); ++rank) {
    std::set<std::uint32_t> others;
    for (const grid_offset& by : offsets)
      if (const auto other = grid.neighbour(rank, by)) others.insert(*other);
    for (const std::uint32_t other : others)
      if (!found.pairs.contains({rank, other})) return false;
    reached += others.size();
  }
  return reached == found.pairs.size();
}

bool groups_are_sections(const partners_found& found, const program& of, const rank_grid& grid) {
  return std::ranges::all_of(
      found.groups, [&](const auto& use) { return extent_of(of.group(use.second), grid, use.first).has_value(); });
}

// In a short ring, a neighbour may be meant in either direction.
bool ambiguous(const std::set<grid_offset>& offsets, const rank_grid& seen, const rank_grid& wanted) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (!seen.closed[d] || seen.size[d] == wanted.size[d]) continue;
    for (const grid_offset& by : offsets)
      if (2 * static_cast<std::uint32_t>(std::abs(by[d])) >= seen.size[d]) return true;
  }
  return false;
}

std::vector<rank_grid> with_closed_dimensions(const rank_grid& grid) {
  std::vector<rank_grid> found;
  for (unsigned closed = 0; closed < 1U << grid.dimensions(); ++closed) {
    rank_grid g = grid;
    for (unsigned d = 0; d < 3; ++d) g.closed[d] = (closed >> d & 1U) != 0;
    found.push_back(g);
  }
  return found;
}

}  // namespace

partners_found partners_of(const sized_program& p) {
  using kind = operation::kind;
  partners_found found;
  const nothing_complete none;
  for (std::uint32_t rank = 0; rank < p.processes; ++rank) {
    std::set<std::uint32_t> peers, groups;
    stream s = p.what.of(rank, none);
    while (const operation* o = s.next()) {
      const bool has_peer = o->what == kind::send || o->what == kind::synchronous_send || o->what == kind::receive ||
                            o->what == kind::put || o->what == kind::get || o->what == kind::atomic ||
                            o->what == kind::await_put;
      if (has_peer) peers.insert(o->peer);
      if ((has_peer || o->what == kind::collective) && o->group != everybody) groups.insert(o->group);
    }
    for (const std::uint32_t peer : peers) found.pairs.insert({rank, peer});
    for (const std::uint32_t group : groups) found.groups.insert({rank, group});
  }
  return found;
}

std::optional<unsigned> extent_of(std::span<const std::uint32_t> group, const rank_grid& in, std::uint32_t rank) {
  for (unsigned varying = 1; varying < 8; ++varying) {
    bool longer = true;  // each of its dimensions has more than one place
    std::size_t length = 1;
    for (unsigned d = 0; d < 3; ++d)
      if ((varying >> d & 1U) != 0) {
        longer = longer && in.size[d] > 1;
        length *= in.size[d];
      }
    if (!longer || length != group.size()) continue;
    if (std::ranges::equal(in.section(rank, varying), group)) return varying;
  }
  return std::nullopt;
}

std::vector<regular_pattern> patterns_of(const sized_program& smaller, const sized_program& larger,
                                         std::uint32_t wanted) {
  const partners_found in_smaller = partners_of(smaller), in_larger = partners_of(larger);
  std::vector<regular_pattern> found;
  for (const rank_grid& open : grids_of(larger.processes))
    for (const rank_grid& grid : with_closed_dimensions(open)) {
      const auto offsets = offsets_in(in_larger, grid);
      if (offsets.size() > most_offsets || !explain(offsets, in_larger, grid) ||
          !groups_are_sections(in_larger, larger.what, grid))
        continue;
      for (rank_grid first : grids_of(smaller.processes)) {
        first.closed = grid.closed;
        if (first.dimensions() != grid.dimensions() || !explain(offsets, in_smaller, first) ||
            !groups_are_sections(in_smaller, smaller.what, first))
          continue;
        // An offset that the smaller program does not show may be one of several that appear with more ranks.
        const auto shown = [&](const grid_offset& by) {
          for (std::uint32_t rank = 0; rank < first.ranks(); ++rank)
            if (first.neighbour(rank, by)) return true;
          return false;
        };
        const auto next = continued(first, grid, wanted);
        if (!next || !std::ranges::all_of(offsets, shown) || ambiguous(offsets, grid, *next)) continue;
        found.push_back({{offsets.begin(), offsets.end()}, first, grid, *next});
      }
    }
  std::ranges::stable_sort(found, {}, [](const regular_pattern& p) {
    return std::tuple(p.offsets.size(), p.larger.dimensions(), std::ranges::count(p.larger.closed, true));
  });
  return found;
}

}  // namespace lull::netsim
