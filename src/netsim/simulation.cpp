#include "netsim/simulation.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "netsim/memory.hpp"
#include "netsim/sampling/estimate.hpp"
#include "netsim/tolerance/tolerance.hpp"

namespace lull::netsim {

link_policy policy_of(const power_parameters& given) {
  const power_mode& mode = find_power_mode(given.mode);
  return mode.policy(reader(mode.keys, given.own));
}

std::vector<link_policy> simulation::saving_policies() const {
  std::vector<link_policy> found;
  for (const power_parameters& mode : savings) found.push_back(policy_of(mode));
  return found;
}

bool packets_wait_for_links(const simulation& asked) {
  const link_policy own = policy_of(asked.power);
  return own.does == link_policy::behaviour::changes_rate ||
         (own.does == link_policy::behaviour::sleeps && own.wake_delays);
}

result simulate(const simulation& asked, const progress& shown) {
  if (!asked.savings.empty()) {
    if (packets_wait_for_links(asked))
      throw usage_error(asked.source,
                        fmt::format("savings follow from a run in which no packet waits for a link, but "
                                    "power.mode is {}",
                                    asked.power.mode),
                        "set power.mode = active, or power.wake_delays = false");
    if (asked.routing.algorithm == algorithm::power_aware)
      throw usage_error(asked.source, "routing.algorithm is power-aware, so that paths depend on the power mode",
                        "leave out savings, or choose another algorithm");
  }
  if (asked.tolerance) check_tolerance(asked);
  if (asked.sample) {
    check_sample(asked);
    return within_memory("simulate the network", [&] {
      return find_topology(asked.topology).simulate(asked.together ? with_random_starts(asked) : asked, shown);
    });
  }
  return within_memory("simulate the network", [&] { return find_topology(asked.topology).simulate(asked, shown); });
}

}  // namespace lull::netsim
