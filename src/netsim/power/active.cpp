// Links that never rest: what the others are compared with.
#include "netsim/power/power_mode.hpp"

namespace lull::netsim {

power_mode active_mode() {
  return {"active", "full power always", {}, {}, [](const reader& /*nothing*/) { return link_policy{}; }};
}

}  // namespace lull::netsim
