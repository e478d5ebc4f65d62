#include "netsim/simulation.hpp"

namespace lull::netsim {

result simulate(const simulation& asked, const progress& shown) {
  return find_topology(asked.topology).simulate(asked, shown);
}

}  // namespace lull::netsim
