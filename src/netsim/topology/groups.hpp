// Shared by dragonflies: groups of routers, global cables between them, and the path of a packet from group to group. A
// dragonfly is this template with a class for the inside of a group. Only topology/dragonfly*.cpp include it.
//
// Minimal paths leave a group at most once, as Kim, Dally, Scott and Abts define them (2008), and are the shortest of
// those: by a global cable of the source's router or one that ends at the destination's router if that is shortest,
// otherwise by any cable between the two groups that makes the path as short as possible. (A path via a third group can
// be even shorter, but it takes two global links, which are scarce: it counts as a detour.)
//
// Valiant paths go via a random third group, minimally to it and minimally on from the router where they enter it.
// Inside a group, or if there is no third group, all paths are minimal: like Kim et al., this balances the load of
// global links only. The adaptive algorithms choose between the two in `start`, at the source's router (UGAL-L).
//
// Channels. The channel is the number of groups that the packet has left, and packets cross the inside of a group in an
// order without cycles. Each link thus waits only for links of the same group and channel that come later in the order,
// or for global links, and those for the next channel: two channels for minimal paths, three for detours.
//
// Ports of a router: to nodes, to routers of its group, to other groups.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "netsim/topology.hpp"
#include "netsim/topology/global_cables.hpp"

namespace lull::netsim {

// The parameters of every dragonfly other than the inside of its groups.
struct outside_parameters {
  unsigned groups, globals, nodes_per_router;
};
// Reads them, for groups with this many routers, each with this many ports to others of its group.
[[nodiscard]] outside_parameters read_outside(const topology_reader& read, unsigned routers, unsigned ports);

// Parallel ports, counted from the first port that leads to a router of the same group.
struct bundle {
  unsigned first, count;
};

// `Group` is the inside of a group:
//   unsigned routers(), ports()          of a router, to others of its group
//   unsigned apart(a, b)                 links of a shortest path between two routers: 0, 1 or 2
//   bundle step(a, b)                    the first ports of the only allowed path from a to b, a != b
//   std::pair<unsigned, unsigned> peer(a, port)  router and its port
//   std::uint64_t bisection()            links in one direction between its halves
template <class Group>
class groups_of {
 public:
  // Two links within each of three groups, the links between the groups, and those of the nodes.
  static constexpr unsigned most_links = 3 * 2 + 2 + 2;

  groups_of(Group inside, const outside_parameters& outside)
      : inside_(std::move(inside)),
        groups_(outside.groups),
        nodes_per_router_(outside.nodes_per_router),
        first_global_(nodes_per_router_ + inside_.ports()),
        cables_(groups_, inside_.routers(), outside.globals) {
    for (unsigned g = 0; g < groups_; ++g) {
      for (unsigned r = 0; r < inside_.routers(); ++r) {
        locations_.push_back({static_cast<std::uint16_t>(g), static_cast<std::uint16_t>(r)});
      }
    }
  }

  [[nodiscard]] std::uint32_t nodes() const { return switches() * nodes_per_router_; }
  [[nodiscard]] std::uint32_t switches() const { return static_cast<std::uint32_t>(locations_.size()); }
  [[nodiscard]] unsigned ports(std::uint32_t s) const { return first_global_ + cables_.of_router(s); }
  [[nodiscard]] endpoint peer(std::uint32_t s, unsigned port) const;
  [[nodiscard]] endpoint attach_point(std::uint32_t node) const {
    return {node / nodes_per_router_, static_cast<std::uint16_t>(node % nodes_per_router_), false};
  }
  [[nodiscard]] unsigned channels(algorithm a) const {
    if (groups_ < 3) return groups_;
    return a <= algorithm::minimal_random ? 2 : 3;
  }
  // Between the first half of the groups and the rest, which has one group more if their number is odd. For a single
  // group, that of the group.
  [[nodiscard]] std::uint64_t bisection() const;

  void start(std::uint32_t at, route_state& packet, const chooser& ports) const {
    const location here = locations_[at];
    const location there = locations_[packet.to_switch];
    if (here.group == there.group) return;
    const bool can_detour = groups_ > 2;
    if (ports.how() == algorithm::valiant && can_detour) {
      const unsigned third = draw_third(here.group, there.group, ports);
      return decide(packet, third, leave_for(at, here, third, packet.key, ports));
    }
    const beginning minimal = shortest(at, packet, ports);
    decide(packet, none, minimal);
    // No detour is better, not even one whose path takes no time.
    if (!ports.adapts() || !can_detour || !ports.prefers_detour(minimal.port, minimal.links, minimal.port, 0)) return;
    const unsigned third = draw_third(here.group, there.group, ports);
    const beginning other = leave_for(at, here, third, packet.key, ports);
    const unsigned links = other.links + distance(third * inside_.routers() + other.entry, packet.to_switch);
    if (ports.prefers_detour(minimal.port, minimal.links, other.port, links)) decide(packet, third, other);
  }

  [[nodiscard]] hop route(std::uint32_t at, route_state& packet, const chooser& ports) const {
    if (packet.decided != no_port) {
      const std::uint16_t port = std::exchange(packet.decided, no_port);
      return {port, port < first_global_ ? packet.stage : packet.stage++};
    }
    const location here = locations_[at];
    const location there = locations_[packet.to_switch];
    unsigned bound_for = packet.via >> 16U;
    if (bound_for == here.group) {  // the packet has reached the third group
      bound_for = none;
      packet.via = by(none, shortest(at, packet, ports).exit);
    }
    if (bound_for == none) bound_for = there.group;
    if (here.group == bound_for) return inside(here.router, there.router, packet, ports);
    const unsigned exit = packet.via & none;
    if (here.router != exit) return inside(here.router, exit, packet, ports);
    const unsigned port = bound_for == there.group ? best_global(at, there, packet.key, ports)
                                                   : any_global(at, bound_for, packet.key, ports);
    return {static_cast<std::uint16_t>(port), packet.stage++};
  }

 private:
  struct location {
    std::uint16_t group, router;
  };
  // The beginning of a path to another group.
  struct beginning {
    unsigned links = std::numeric_limits<unsigned>::max();  // in total
    unsigned port = 0;
    unsigned exit = 0;   // the router where it leaves the group
    unsigned entry = 0;  // the router where it enters the other group
  };

  // `via` holds the third group that the packet has yet to reach, and the router at which it leaves this group.
  static constexpr unsigned none = 0xffff;
  static std::uint32_t by(unsigned third, unsigned exit) { return third << 16U | exit; }
  // Called by `start`: stores the path and its first port, so that `route` need not search again.
  static void decide(route_state& packet, unsigned third, const beginning& path) {
    packet.via = by(third, path.exit);
    packet.decided = static_cast<std::uint16_t>(path.port);
  }

  // The best of the offered beginnings: the shortest, then the one of least rank.
  class choice {
   public:
    choice(std::uint32_t key, const chooser& ports) : key_(key), ports_(ports) {}
    void offer(const beginning& one) {
      if (one.links > best_.links) return;
      const std::uint64_t its = rank(one.port);
      if (one.links == best_.links && its >= rank_) return;
      best_ = one;
      rank_ = its;
    }
    [[nodiscard]] const beginning& best() const { return best_; }

   private:
    [[nodiscard]] std::uint64_t rank(unsigned port) const {
      switch (ports_.how()) {
        case algorithm::minimal:
          return mixed(key_ + port);
        case algorithm::minimal_random:
        case algorithm::valiant:
          return ports_.random()() >> 32U;
        case algorithm::adaptive:  // random among equal waits
          return static_cast<std::uint64_t>(ports_.wait(port)) << 8U | (ports_.random()() >> 56U);
        case algorithm::power_aware:  // the first of equal waits: traffic concentrates in few ports
          break;
      }
      return static_cast<std::uint64_t>(ports_.wait(port));
    }
    std::uint32_t key_;
    const chooser& ports_;
    std::uint64_t rank_ = 0;
    beginning best_;
  };

  [[nodiscard]] unsigned port_inside(unsigned from, unsigned to, std::uint32_t key, const chooser& ports) const {
    const bundle parallel = inside_.step(from, to);
    return ports.among(nodes_per_router_ + parallel.first, parallel.count, key);
  }
  [[nodiscard]] hop inside(unsigned from, unsigned to, const route_state& packet, const chooser& ports) const {
    return {static_cast<std::uint16_t>(port_inside(from, to, packet.key, ports)), packet.stage};
  }
  [[nodiscard]] unsigned any_global(std::uint32_t at, unsigned group, std::uint32_t key, const chooser& ports) const {
    const auto own = cables_.toward(at, group);
    return ports.among(first_global_ + own.first, own.count, key);
  }
  // Of the router's own cables to the destination's group, one that ends nearest to the destination.
  [[nodiscard]] unsigned best_global(std::uint32_t at, location there, std::uint32_t key, const chooser& ports) const {
    const auto own = cables_.toward(at, there.group);
    if (own.count == 1) return first_global_ + own.first;
    choice paths(key, ports);
    offer_own(at, own, there, paths);
    return paths.best().port;
  }
  void offer_own(std::uint32_t at, global_cables::range own, location there, choice& paths) const {
    const unsigned exit = locations_[at].router;
    for (unsigned cable = own.first; cable < own.first + unsigned{own.count}; ++cable) {
      const unsigned entry = cables_.entry(at, cable);
      paths.offer({1 + inside_.apart(entry, there.router), first_global_ + cable, exit, entry});
    }
  }

  [[nodiscard]] beginning shortest(std::uint32_t at, const route_state& packet, const chooser& ports) const;
  // Links from one router to one of another group.
  [[nodiscard]] unsigned distance(std::uint32_t from, std::uint32_t to) const;
  // The path to another group that takes the fewest links, to any router there.
  [[nodiscard]] beginning leave_for(std::uint32_t at, location here, unsigned group, std::uint32_t key,
                                    const chooser& ports) const;
  [[nodiscard]] unsigned draw_third(unsigned one, unsigned other, const chooser& ports) const {
    unsigned third = ports.random().below(groups_ - 2);
    third += third >= std::min(one, other) ? 1 : 0;
    return third + (third >= std::max(one, other) ? 1 : 0);
  }

  Group inside_;
  unsigned groups_, nodes_per_router_, first_global_;
  std::vector<location> locations_;
  global_cables cables_;
};

template <class Group>
auto groups_of<Group>::shortest(std::uint32_t at, const route_state& packet, const chooser& ports) const -> beginning {
  const location here = locations_[at];
  const location there = locations_[packet.to_switch];
  const auto own = cables_.toward(at, there.group);
  const auto theirs = cables_.toward(packet.to_switch, here.group);
  choice paths(packet.key, ports);
  offer_own(at, own, there, paths);
  for (unsigned cable = theirs.first; cable < theirs.first + unsigned{theirs.count}; ++cable) {
    const unsigned exit = cables_.entry(packet.to_switch, cable);
    const unsigned links = inside_.apart(here.router, exit) + 1;
    if (links == 1 || links > paths.best().links) continue;  // with 1 link it was offered as an own cable
    paths.offer({links, port_inside(here.router, exit, packet.key, ports), exit, there.router});
  }
  // If there is any such path, one of them is shortest, as no group is more than two links wide.
  if (own.count + theirs.count > 0) return paths.best();

  constexpr unsigned least = 3;
  const auto all = cables_.between(here.group, there.group);
  const auto n = static_cast<std::uint32_t>(all.size());
  const unsigned draws = ports.adapts() ? 2 : 1;
  for (unsigned draw = 0; draw < draws; ++draw) {
    const bool by_key = ports.how() == algorithm::minimal;
    auto i = by_key ? static_cast<std::uint32_t>(std::uint64_t{packet.key} * n >> 32U) : ports.random().below(n);
    beginning found;
    for (unsigned looked = 0; looked < n && found.links > least; ++looked) {
      const unsigned links = inside_.apart(here.router, all[i].exit) + 1 + inside_.apart(all[i].entry, there.router);
      if (links < found.links) found = {links, 0, all[i].exit, all[i].entry};
      i = i + 1 == n ? 0 : i + 1;
    }
    found.port = port_inside(here.router, found.exit, packet.key, ports);
    paths.offer(found);
  }
  return paths.best();
}

template <class Group>
unsigned groups_of<Group>::distance(std::uint32_t from, std::uint32_t to) const {
  const location here = locations_[from];
  const location there = locations_[to];
  const auto own = cables_.toward(from, there.group);
  const auto theirs = cables_.toward(to, here.group);
  unsigned links = std::numeric_limits<unsigned>::max();
  for (unsigned cable = own.first; cable < own.first + unsigned{own.count}; ++cable) {
    links = std::min(links, 1 + inside_.apart(cables_.entry(from, cable), there.router));
  }
  for (unsigned cable = theirs.first; cable < theirs.first + unsigned{theirs.count}; ++cable) {
    links = std::min(links, 1 + inside_.apart(here.router, cables_.entry(to, cable)));
  }
  if (own.count + theirs.count > 0) return links;
  for (const auto& [exit, entry] : cables_.between(here.group, there.group)) {
    links = std::min(links, inside_.apart(here.router, exit) + 1 + inside_.apart(entry, there.router));
    if (links == 3) break;
  }
  return links;
}

template <class Group>
auto groups_of<Group>::leave_for(std::uint32_t at, location here, unsigned group, std::uint32_t key,
                                 const chooser& ports) const -> beginning {
  if (cables_.toward(at, group).count > 0) {
    const unsigned port = any_global(at, group, key, ports);
    return {1, port, here.router, cables_.entry(at, port - first_global_)};
  }
  const auto all = cables_.between(here.group, group);
  const auto n = static_cast<std::uint32_t>(all.size());
  std::uint32_t i = ports.random().below(n);
  beginning found;
  for (unsigned looked = 0; looked < n && found.links > 2; ++looked) {
    const unsigned links = inside_.apart(here.router, all[i].exit) + 1;
    if (links < found.links) found = {links, 0, all[i].exit, all[i].entry};
    i = i + 1 == n ? 0 : i + 1;
  }
  found.port = port_inside(here.router, found.exit, key, ports);
  return found;
}

template <class Group>
endpoint groups_of<Group>::peer(std::uint32_t s, unsigned port) const {
  if (port < nodes_per_router_) return {s * nodes_per_router_ + port, 0, true};
  if (port < first_global_) {
    const location here = locations_[s];
    const auto [router, back] = inside_.peer(here.router, port - nodes_per_router_);
    return {here.group * inside_.routers() + router, static_cast<std::uint16_t>(nodes_per_router_ + back), false};
  }
  const auto [router, cable] = cables_.far_end(s, port - first_global_);
  return {router, static_cast<std::uint16_t>(first_global_ + cable), false};
}

template <class Group>
std::uint64_t groups_of<Group>::bisection() const {
  if (groups_ == 1) return inside_.bisection();
  std::uint64_t severed = 0;
  for (unsigned g = 0; g < groups_ / 2; ++g) {
    for (unsigned other = groups_ / 2; other < groups_; ++other) severed += cables_.between(g, other).size();
  }
  return severed;
}

}  // namespace lull::netsim
