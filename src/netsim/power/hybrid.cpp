// After `hold` a link enters fast wake; after `hybrid_hold` in fast wake, it enters deep sleep.
#include "netsim/power/sleep.hpp"

namespace lull::netsim {

power_mode hybrid_mode() {
  std::vector<key> keys{sleep::hold(),
                        {.name = "hybrid_hold",
                         .meaning = "time in fast wake before the sleep signalling begins",
                         .of = kind::time,
                         .same_as = "hold",
                         .most = longest_time,
                         .unit_of = "sleep_time"},
                        sleep::sleep_time()};
  for (const std::vector<key>& more : {sleep::deep(), sleep::fast(), sleep::waking()})
    keys.insert(keys.end(), more.begin(), more.end());
  return {"hybrid", "fast wake, then deep sleep", keys, sleep::technologies(), [](const reader& from) {
            link_policy p = sleep::read_common(from);
            sleep::read_deep(from, p);
            sleep::read_fast(from, p);
            p.fast_for = from.whole("hybrid_hold");
            p.usual_wake = p.wake_fast;
            p.longest_wake = p.wake_deep;
            return p;
          }};
}

}  // namespace lull::netsim
