// Wakes sleepers. Each PE has one doorbell in shared memory. The PE sleeps on it until a process that has changed the
// PE's memory rings.
//
// No wake-up is missed. The sleeper announces its sleep, executes a fence, tests its condition again, and then sleeps
// on a word that each ring changes. The ringer writes the data, executes a fence, and reads the announcement. At least
// one of the two sees the other. The fence costs the ringer some 6 ns. If no thread sleeps, a ring costs that and a
// read of a shared, clean cache line.
//
// The ringer consumes the announcement, so that only the first of many stores into a sleeper's memory pays for the
// wake-up. A ring wakes all threads that have announced a sleep; each announces again before its next sleep.
//
// There are two kinds of rings. A ring after a store of the program (put, atomic) wakes only the threads whose wait
// such a store can end; threads that wait for a barrier of the runtime sleep on.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/thread_sanitizer.hpp"

namespace lull::wait {

enum class wake { rung, timed_out };

class doorbell {
 public:
  // Call after the data has been written, from any process that maps the doorbell.
  void ring() noexcept {
    tsan_release();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    wake_those(by_anything);
  }
  // The same for a caller whose last write was an atomic read-modify-write, which on x86 is the fence.
  void ring_after_atomic() noexcept {
    tsan_release();
    fence_after_atomic();
    wake_those(by_anything);
  }
  // The same two after a store of the program, for which no barrier of the runtime waits.
  void ring_for_store() noexcept {
    tsan_release();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    wake_those(by_stores);
  }
  void ring_for_store_after_atomic() noexcept {
    tsan_release();
    fence_after_atomic();
    wake_those(by_stores);
  }

  // Sleeps at most timeout_ns; does not sleep if ready() holds after the announcement. `stores_too`: whether stores of
  // the program can end the wait.
  template <class Ready>
  wake sleep(Ready&& ready, std::int64_t timeout_ns, bool stores_too = true) {
    const std::uint32_t seen = word_.load(std::memory_order_acquire);
    announced_.fetch_or(stores_too ? by_anything : by_runtime, std::memory_order_acq_rel);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // If ready() holds, the announcement stays, because it may also be another thread's. It costs the next ringer one
    // call.
    return ready() ? wake::rung : sleep_on(seen, timeout_ns);
  }

 private:
  static constexpr std::uint32_t by_runtime = 1, by_stores = 2, by_anything = by_runtime | by_stores;

  static void fence_after_atomic() noexcept {
#if !defined(__x86_64__)
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }
  void wake_those(std::uint32_t whom) noexcept {
    if ((announced_.load(std::memory_order_relaxed) & whom) != 0) [[unlikely]]  // relaxed: the caller's fence orders it
      ring_sleepers();
  }
  void ring_sleepers() noexcept;
  wake sleep_on(std::uint32_t seen, std::int64_t timeout_ns) noexcept;

  alignas(64) std::atomic<std::uint32_t> announced_;  // in a separate cache line, because every ring reads it
  alignas(64) std::atomic<std::uint32_t> word_;
};

}  // namespace lull::wait
