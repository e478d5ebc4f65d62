// After `hold` a link enters fast wake, without signalling, and stays there until the next packet.
#include "netsim/power/sleep.hpp"

namespace lull::netsim {

power_mode fast_wake_mode() {
  std::vector<key> keys{sleep::hold(), sleep::sleep_time()};  // sleep_time serves as a unit of hold
  for (const std::vector<key>& more : {sleep::fast(), sleep::waking()})
    keys.insert(keys.end(), more.begin(), more.end());
  return {"fast-wake", "fast wake", keys, sleep::technologies(), [](const reader& from) {
            link_policy p = sleep::read_common(from);
            sleep::read_fast(from, p);
            p.fast_for = any_time;
            p.usual_wake = p.longest_wake = p.wake_fast;
            return p;
          }};
}

}  // namespace lull::netsim
