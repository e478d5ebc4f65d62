#include "netsim/topology/groups.hpp"

namespace lull::netsim {

outside_parameters read_outside(const topology_reader& read, unsigned routers, unsigned ports) {
  // The table of cables has an entry per router and other group: this limits it to some 100 MB.
  constexpr std::int64_t most_entries = 1 << 26;
  outside_parameters result{};
  result.nodes_per_router = read.one("nodes_per_router");
  result.globals = read.one("globals");
  read.require(ports + result.nodes_per_router + result.globals <= most_ports, "nodes_per_router",
               "keep the ports of a router at or below", most_ports);
  const std::int64_t joined = std::int64_t{routers} * result.globals + 1;
  result.groups = read.one("groups");
  read.require(result.groups <= joined, "groups", "be at most routers x globals of a group + 1 =", joined);
  const std::int64_t groups = result.groups == 0 ? joined : result.groups;
  read.require(groups * groups * routers <= most_entries, "groups",
               "be smaller: groups x groups x routers of a group is at most", most_entries);
  read.require(groups * routers * result.nodes_per_router <= most_nodes, "groups",
               "keep the number of nodes at or below", most_nodes);
  result.groups = static_cast<unsigned>(groups);
  return result;
}

}  // namespace lull::netsim
