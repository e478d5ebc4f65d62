#include "wait/completion_flag.hpp"

#include "base/futex.hpp"

namespace lull::wait {

// The memory at this address may have been reused: a thread that sleeps there tests again, as after any wake-up.
void completion_flag::wake_sleeper() noexcept { futex_wake(state_, 1, futex_users::one_process); }

wake completion_flag::sleep(std::int64_t timeout_ns) noexcept {
  if (!go(pending, sleeps_here)) return wake::rung;
  const bool timed_out = !futex_wait(state_, sleeps_here, timeout_ns, futex_users::one_process);
  return go(sleeps_here, pending) && timed_out ? wake::timed_out : wake::rung;
}

}  // namespace lull::wait
