#include "wait/doorbell.hpp"

#include <climits>

#include "base/futex.hpp"

namespace lull::wait {

void doorbell::ring_sleepers() noexcept {
  // In this order: a sleeper that announces itself in between has read the old word, and will not sleep on it.
  if (announced_.exchange(0, std::memory_order_acq_rel) == 0) return;  // another ringer wakes them
  word_.fetch_add(1, std::memory_order_release);
  futex_wake(word_, INT_MAX, futex_users::several_processes);
}

wake doorbell::sleep_on(std::uint32_t seen, std::int64_t timeout_ns) noexcept {
  if (futex_wait(word_, seen, timeout_ns, futex_users::several_processes)) return wake::rung;
  // On a busy machine the bell may ring between the end of the sleep and here: that wake-up was sent.
  return word_.load(std::memory_order_acquire) == seen ? wake::timed_out : wake::rung;
}

}  // namespace lull::wait
