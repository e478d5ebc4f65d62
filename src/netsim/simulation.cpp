#include "netsim/simulation.hpp"

#include "netsim/memory.hpp"

namespace lull::netsim {

link_policy policy_of(const power_parameters& given) {
  const power_mode& mode = find_power_mode(given.mode);
  return mode.policy(reader(mode.keys, given.own));
}

result simulate(const simulation& asked, const progress& shown) {
  return within_memory("simulate the network", [&] { return find_topology(asked.topology).simulate(asked, shown); });
}

}  // namespace lull::netsim
