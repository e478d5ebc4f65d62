// What the protocol calls in its process, and the end of the process when another node cannot be reached.
#pragma once
#include <functional>
#include <string>

#include "base/units.hpp"

namespace lull::fabric {

struct protocol_hooks {
  std::function<void()> memory_changed;       // this PE's memory was written, or a message was sent or arrived
  std::function<void()> node_memory_changed;  // by a signal that concerns all PEs of this node
  std::function<void()> sleeper_answered{};   // a reply arrived for a thread asleep on the transport
  // Another PE cannot be reached. Must not return. Without this hook the process prints a line and exits.
  std::function<void(const std::string& found)> lost{};
};

// OpenSHMEM cannot return an error here, and no exception may cross its C interface, so the PE ends, and with it the
// job. `what` is the verb of the message, as in "cannot send to another node".
[[noreturn]] void abort_on_unreachable(pe_id me, const protocol_hooks& hooks, const char* what, const char* why);

}  // namespace lull::fabric
