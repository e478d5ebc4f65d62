#include "wait/completion_flag.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace lull::wait {

// Another thing may be at this address by now: who sleeps there looks again, as after any wake-up.
void completion_flag::wake_sleeper() noexcept {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&state_), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

wake completion_flag::sleep(std::int64_t timeout_ns) noexcept {
  if (!go(pending, sleeps_here)) return wake::rung;
  const timespec timeout{.tv_sec = timeout_ns / 1'000'000'000, .tv_nsec = timeout_ns % 1'000'000'000};
  const long result = syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&state_), FUTEX_WAIT_PRIVATE, sleeps_here,
                              &timeout, nullptr, 0);
  const bool timed_out = result != 0 && errno == ETIMEDOUT;
  return go(sleeps_here, pending) && timed_out ? wake::timed_out : wake::rung;
}

}  // namespace lull::wait
