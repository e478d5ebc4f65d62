// The canonical dragonfly: groups of routers, each cabled to all others of its group, and one or more cables between
// any two groups (Kim, Dally, Scott and Abts 2008). It is balanced if a group has twice as many routers as a router has
// nodes, and twice as many as a router has global cables.
//
// groups.hpp defines the paths between groups, the channels and the global cables.
#include <cstdint>
#include <utility>
#include <vector>

#include "netsim/topology/entry.hpp"
#include "netsim/topology/groups.hpp"

namespace lull::netsim {
namespace {

const std::vector<key> dragonfly_keys{
    {.name = "routers", .meaning = "number of routers of a group", .by_default = 24, .least = 1, .most = 1024},
    {.name = "nodes_per_router", .meaning = "number of nodes at a router", .by_default = 12, .least = 1, .most = 1024},
    {.name = "globals", .meaning = "number of cables of a router to other groups", .by_default = 12, .most = 255},
    {.name = "groups",
     .meaning = "number of groups; 0: as many as the cables can connect, each to each",
     .by_default = 0,
     .most = 67108864},
};

class all_to_all {
 public:
  explicit all_to_all(unsigned routers) : routers_(routers) {}
  [[nodiscard]] unsigned routers() const { return routers_; }
  [[nodiscard]] unsigned ports() const { return routers_ - 1; }
  [[nodiscard]] static unsigned apart(unsigned a, unsigned b) { return a != b ? 1 : 0; }
  [[nodiscard]] static bundle step(unsigned a, unsigned b) { return {b - (b > a ? 1 : 0), 1}; }
  [[nodiscard]] static std::pair<unsigned, unsigned> peer(unsigned a, unsigned port) {
    const unsigned other = port + (port >= a ? 1 : 0);
    return {other, step(other, a).first};
  }
  // Between half of the routers and the other half.
  [[nodiscard]] std::uint64_t bisection() const { return std::uint64_t{routers_ / 2} * (routers_ - routers_ / 2); }

 private:
  unsigned routers_;
};

class dragonfly : public groups_of<all_to_all> {
 public:
  explicit dragonfly(const parameters& given) : dragonfly(topology_reader("dragonfly", dragonfly_keys, given)) {}

 private:
  explicit dragonfly(const topology_reader& read) : dragonfly(read, all_to_all(read.one("routers"))) {}
  dragonfly(const topology_reader& read, all_to_all inside)
      : groups_of(inside, read_outside(read, inside.routers(), inside.ports())) {}
};

}  // namespace

topology_entry dragonfly_entry() {
  return make_entry<dragonfly>(
      "dragonfly", "groups of routers, with cables between all routers of a group, and between groups", dragonfly_keys,
      {{"routers", {4}}, {"nodes_per_router", {2}}, {"globals", {2}}, {"groups", {0}}},
      {{"dragonfly-4608",
        "4,608 nodes: 16 groups of 24 routers of 12 nodes, 12 global cables, radix 47",
        {{"routers", {24}}, {"nodes_per_router", {12}}, {"globals", {12}}, {"groups", {16}}}}});
}

}  // namespace lull::netsim
