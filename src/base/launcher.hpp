// What lull-launch and the processes that it has started say to each other, besides PMIx.
#pragma once
#include <string_view>

namespace lull {

// How the names of its jobs begin.
inline constexpr std::string_view job_of_lull_launch = "lull-";

// How the message of PMIx_Abort begins with which a process says that it cannot reach another, and waits to be ended. Nearly
// always that one has died: lull-launch knows, and says which.
inline constexpr std::string_view peer_is_lost = "peer lost: ";

}  // namespace lull
