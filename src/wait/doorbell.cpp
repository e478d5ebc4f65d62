#include "wait/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace lull::wait {

void doorbell::ring_sleepers() noexcept {
  // In this order: who announces itself in between has read the old word, and will not sleep on it.
  if (announced_.exchange(0, std::memory_order_acq_rel) == 0) return;  // another ringer wakes them
  word_.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word_), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

wake doorbell::sleep_on(std::uint32_t seen, std::int64_t timeout_ns) noexcept {
  const timespec timeout{.tv_sec = timeout_ns / 1'000'000'000, .tv_nsec = timeout_ns % 1'000'000'000};
  const long result =
      syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word_), FUTEX_WAIT, seen, &timeout, nullptr, 0);
  if (result == 0 || errno != ETIMEDOUT) return wake::rung;
  // On a busy machine the bell may ring between the end of the sleep and here: that wake-up was sent.
  return word_.load(std::memory_order_acquire) == seen ? wake::timed_out : wake::rung;
}

}  // namespace lull::wait
