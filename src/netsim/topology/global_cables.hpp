// The cables between the groups of a dragonfly: the router at each end, and the cables between any two groups.
//
// Arrangement. The global cables of a group, taken router by router, go in turn to the groups at distance 1, -1, 2, -2,
// .... Each router's cables are thus spread over the other groups as evenly as possible; if their number is a multiple
// of the number of other groups, each router has a cable to each group. Each group begins with a different router. The
// j-th cable of a group to another is the (m j + c)-th of the other to it, where m is near the golden section of their
// number n and coprime with it, and c differs between pairs of groups. Cables of neighbouring routers, and of one
// router, therefore end far apart. Several cables may connect the same two routers. If the last ends cannot be
// distributed equally, with all groups alike (an odd number of ends left in an odd number of groups), one port of one
// router of each group stays free.
//
// The global cables of a router are numbered by the group to which they lead, then by the router.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lull::netsim {

class global_cables {
 public:
  // Each group has at least one cable to each other group: groups <= routers x per_router + 1.
  global_cables(unsigned groups, unsigned routers, unsigned per_router);

  struct range {
    std::uint8_t first, count;
  };
  struct gateway {
    std::uint16_t exit, entry;  // routers within their groups
  };
  struct end {
    std::uint32_t router;  // in the network
    unsigned cable;
  };

  // The cables of a router (numbered in the network) to another group.
  [[nodiscard]] range toward(std::uint32_t router, unsigned group) const {
    return toward_[std::size_t{router} * groups_ + group];
  }
  // The router, within its group, at which a cable ends.
  [[nodiscard]] unsigned entry(std::uint32_t router, unsigned cable) const {
    return entry_[router * per_router_ + cable];
  }
  // All cables from one group to another.
  [[nodiscard]] std::span<const gateway> between(unsigned group, unsigned other) const {
    const std::size_t at = std::size_t{group} * groups_ + other;
    return {&gateways_[gateways_first_[at]], gateways_first_[at + 1] - gateways_first_[at]};
  }
  [[nodiscard]] unsigned of_router(std::uint32_t router) const { return of_router_[router]; }
  [[nodiscard]] end far_end(std::uint32_t router, unsigned cable) const;

 private:
  unsigned groups_, routers_, per_router_;
  std::vector<range> toward_;  // by router and group
  std::vector<std::uint8_t> of_router_;
  std::vector<std::uint16_t> entry_;  // by router and cable
  std::vector<std::uint16_t> far_group_;
  std::vector<std::uint8_t> far_cable_;
  std::vector<gateway> gateways_;
  std::vector<std::uint32_t> gateways_first_;  // by group and group
};

}  // namespace lull::netsim
