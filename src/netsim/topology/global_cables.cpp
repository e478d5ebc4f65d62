#include "netsim/topology/global_cables.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "netsim/routing.hpp"

namespace lull::netsim {
namespace {

// Coprime with n and near its golden section, so that its multiples visit 0..n-1 in leaps.
[[nodiscard]] unsigned leap(unsigned n) {
  unsigned m = std::max(1U, static_cast<unsigned>(0.618 * n));
  while (std::gcd(m, n) != 1) ++m;
  return m;
}

// The other groups by their distance, in the order in which a group's cables go to them. If the number of cables is not
// a multiple of the number of groups, the first groups get one more cable; each distance must then be there together
// with its opposite, unless it is its own opposite.
[[nodiscard]] std::vector<unsigned> distances(unsigned groups, bool own_opposite_first) {
  std::vector<unsigned> result;
  if (own_opposite_first) result.push_back(groups / 2);
  for (unsigned d = 1; 2 * d < groups; ++d) result.insert(result.end(), {d, groups - d});
  if (groups % 2 == 0 && !own_opposite_first) result.push_back(groups / 2);
  return result;
}

struct cable {
  std::uint32_t from;
  std::uint32_t to_group, to;  // `to` within its group
};

}  // namespace

global_cables::global_cables(unsigned groups, unsigned routers, unsigned per_router)
    : groups_(groups), routers_(routers), per_router_(per_router) {
  const std::size_t all = std::size_t{groups} * routers;
  toward_.resize(all * groups);
  of_router_.resize(all);
  entry_.resize(all * per_router);
  far_group_.resize(all * per_router);
  far_cable_.resize(all * per_router);
  gateways_first_.resize(std::size_t{groups} * groups + 1);
  if (groups == 1) return;

  unsigned ends = routers * per_router;
  bool odd_left = ends % (groups - 1) % 2 == 1;
  if (odd_left && groups % 2 == 1) {
    --ends;
    odd_left = false;
  }
  const std::vector<unsigned> order = distances(groups, odd_left);
  const unsigned rotation = leap(routers);
  // Routers within their group, by group and other group.
  std::vector<std::vector<std::uint16_t>> exits(std::size_t{groups} * groups);
  for (unsigned g = 0; g < groups; ++g) {
    for (unsigned e = 0; e < ends; ++e) {
      const unsigned other = (g + order[e % order.size()]) % groups;
      const unsigned router = (e / per_router + g * rotation) % routers;
      exits[std::size_t{g} * groups + other].push_back(static_cast<std::uint16_t>(router));
    }
  }
  std::vector<cable> cables;
  cables.reserve(std::size_t{groups} * ends);
  for (unsigned g = 0; g < groups; ++g) {
    for (unsigned other = g + 1; other < groups; ++other) {
      const auto& here = exits[std::size_t{g} * groups + other];
      const auto& there = exits[std::size_t{other} * groups + g];
      const auto n = static_cast<unsigned>(here.size());
      const unsigned m = leap(n);
      unsigned match = mixed(g * groups + other) % n;
      for (const std::uint16_t from : here) {
        cables.push_back({g * routers + from, other, there[match]});
        cables.push_back({other * routers + there[match], g, from});
        match = (match + m) % n;
      }
    }
  }
  const auto by_ends = [](const cable& c) { return std::tuple(c.from, c.to_group, c.to); };
  std::ranges::sort(cables, {}, by_ends);

  for (std::size_t i = 0; i < cables.size(); ++i) {
    const cable& c = cables[i];
    const unsigned number = of_router_[c.from]++;
    range& those = toward_[std::size_t{c.from} * groups + c.to_group];
    if (those.count++ == 0) those.first = static_cast<std::uint8_t>(number);
    entry_[std::size_t{c.from} * per_router + number] = static_cast<std::uint16_t>(c.to);
    far_group_[std::size_t{c.from} * per_router + number] = static_cast<std::uint16_t>(c.to_group);
    ++gateways_first_[std::size_t{c.from / routers} * groups + c.to_group + 1];
  }
  std::partial_sum(gateways_first_.begin(), gateways_first_.end(), gateways_first_.begin());
  gateways_.resize(cables.size());
  std::vector<std::uint32_t> next = gateways_first_;
  for (const cable& c : cables) {
    gateways_[next[std::size_t{c.from / routers} * groups + c.to_group]++] = {
        static_cast<std::uint16_t>(c.from % routers), static_cast<std::uint16_t>(c.to)};
  }
  // Parallel cables between two routers are in the same order at both ends.
  for (std::uint32_t router = 0; router < all; ++router) {
    unsigned parallel = 0;
    for (unsigned i = 0; i < of_router_[router]; ++i) {
      const std::size_t at = std::size_t{router} * per_router + i;
      const bool same = i > 0 && entry_[at] == entry_[at - 1] && far_group_[at] == far_group_[at - 1];
      parallel = same ? parallel + 1 : 0;
      const std::uint32_t other = far_group_[at] * routers + entry_[at];
      const range back = toward(other, router / routers);
      unsigned cable = back.first;
      while (entry(other, cable) != router % routers) ++cable;
      far_cable_[at] = static_cast<std::uint8_t>(cable + parallel);
    }
  }
}

global_cables::end global_cables::far_end(std::uint32_t router, unsigned cable) const {
  const std::size_t at = std::size_t{router} * per_router_ + cable;
  return {far_group_[at] * routers_ + entry_[at], far_cable_[at]};
}

}  // namespace lull::netsim
