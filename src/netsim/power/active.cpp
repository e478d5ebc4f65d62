// Links that never rest: the baseline for the other modes.
#include "netsim/power/power_mode.hpp"

namespace lull::netsim {

power_mode active_mode() {
  return {"active", "full power always", {}, {}, [](const reader& /*nothing*/) { return link_policy{}; }};
}

}  // namespace lull::netsim
