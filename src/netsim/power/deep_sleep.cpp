// After `hold` a link signals that it will sleep, then sleeps until the next packet, interrupted only by refreshes.
#include "netsim/power/sleep.hpp"

namespace lull::netsim {

power_mode deep_sleep_mode() {
  std::vector<key> keys{sleep::hold(), sleep::sleep_time()};
  for (const std::vector<key>& more : {sleep::deep(), sleep::waking()})
    keys.insert(keys.end(), more.begin(), more.end());
  return {"deep-sleep", "sleep signalling at full power, then deep sleep", keys, sleep::technologies(),
          [](const reader& from) {
            link_policy p = sleep::read_common(from);
            sleep::read_deep(from, p);
            p.usual_wake = p.longest_wake = p.wake_deep;
            return p;
          }};
}

}  // namespace lull::netsim
