#include "fabric/wait/waiting.hpp"

#include "base/settings.hpp"

namespace lull::fabric {

waiting::waiting(doorbell& bell, progress_source* source, bool oversubscribed)
    : bell_(bell),
      source_(source),
      policy_(setting_text("LULL_WAIT") == "poll" ? wait_policy::poll : wait_policy::interrupt),
      limits_{.spin_ns = setting_integer("LULL_WAIT_SPIN_US") * 1000,
              .yields = static_cast<int>(setting_integer("LULL_WAIT_YIELDS")),
              .timeout_ns = setting_integer("LULL_WAIT_TIMEOUT_MS") * 1'000'000,
              .oversubscribed = oversubscribed} {}

}  // namespace lull::fabric
