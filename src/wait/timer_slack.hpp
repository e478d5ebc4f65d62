// How late the kernel may wake a thread whose sleep is over. The usual slack is 50 µs; timers are set some ten
// microseconds apart from what they are to catch. It belongs to a thread, so each asks for its own.
#pragma once
#include <sys/prctl.h>

namespace lull::wait {

// From here on the calling thread is woken as soon as its time is over. Costs a look at a flag after the first call.
inline void wake_without_slack() {
  thread_local const bool asked = [] {
    prctl(PR_SET_TIMERSLACK, 1);
    return true;
  }();
  (void)asked;
}

}  // namespace lull::wait
