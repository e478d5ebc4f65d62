// Timer slack: by how much the kernel may delay the end of a thread's timed sleep. The default is 50 µs, more than the
// few tens of microseconds by which adaptive waits set their timers early. Slack is a property of each thread.
#pragma once
#include <sys/prctl.h>

namespace lull::wait {

// Sets the calling thread's slack to the minimum. After the first call in a thread this costs a test of a flag.
inline void wake_without_slack() {
  thread_local const bool asked = [] {
    prctl(PR_SET_TIMERSLACK, 1);
    return true;
  }();
  (void)asked;
}

}  // namespace lull::wait
