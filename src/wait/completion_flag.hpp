// The completion of one operation, for which one thread waits. complete() wakes that thread and no other.
//
// States: pending → done. While the flag is pending, its thread announces where it sleeps, and withdraws that when it
// is awake. The thread may destroy the flag as soon as it is done: complete() then uses only its address.
#pragma once
#include <atomic>
#include <cstdint>

#include "wait/doorbell.hpp"

namespace lull::wait {

class completion_flag {
 public:
  [[nodiscard]] bool done() const noexcept { return state_.load(std::memory_order_acquire) == is_done; }

  // Completes the operation. Returns true if the flag's thread sleeps on the transport: the caller must wake it there.
  [[nodiscard]] bool complete() noexcept {
    const std::uint32_t before = state_.exchange(is_done, std::memory_order_seq_cst);
    if (before == sleeps_here) [[unlikely]]
      wake_sleeper();
    return before == sleeps_on_transport;
  }

  // The flag's thread calls these. announce_sleep_on_transport() returns false if the flag is done: do not sleep.
  [[nodiscard]] bool announce_sleep_on_transport() noexcept { return go(pending, sleeps_on_transport); }
  void awake() noexcept { (void)go(sleeps_on_transport, pending); }
  wake sleep(std::int64_t timeout_ns) noexcept;

 private:
  static constexpr std::uint32_t pending = 0, sleeps_here = 1, sleeps_on_transport = 2, is_done = 3;
  bool go(std::uint32_t from, std::uint32_t to) noexcept {
    return state_.compare_exchange_strong(from, to, std::memory_order_seq_cst);
  }
  void wake_sleeper() noexcept;

  std::atomic<std::uint32_t> state_{pending};
};

}  // namespace lull::wait
