// How a sleeper is woken. Each PE has one doorbell in shared memory; it sleeps on it until whoever changed its memory
// rings.
//
// No wake-up is missed: the sleeper announces itself, fences, looks at the data again and only then sleeps, on a word
// that every ring changes; the ringer writes the data, fences, and looks for an announcement. One of the two always
// sees the other. The fence costs a ringer some 6 ns; when nobody sleeps that and one shared, clean cache line are all.
//
// Who rings takes the announcement, so that of many stores into a sleeper's memory only the first pays for waking it.
// All threads that had announced themselves by then are woken; who goes back to sleep announces itself anew.
//
// There are two kinds of rings. After a store of the program (put, atomic) only those are woken whose wait such a store
// may end; who waits for a meeting of the runtime's own sleeps on.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/thread_sanitizer.hpp"

namespace lull::wait {

enum class wake { rung, timed_out };

class doorbell {
 public:
  // Call after the data has been written. Callable from any process that maps it.
  void ring() noexcept {
    tsan_release();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    wake_those(by_anything);
  }
  // The same for a caller whose last write was an atomic read-modify-write: on x86 that was the fence.
  void ring_after_atomic() noexcept {
    tsan_release();
    fence_after_atomic();
    wake_those(by_anything);
  }
  // The same after a store of the program, which no meeting of the runtime waits for.
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

  // Sleeps at most timeout_ns, not at all if ready() holds once the sleep has been announced. `stores_too`: whether
  // stores of the program may end the wait.
  template <class Ready>
  wake sleep(Ready&& ready, std::int64_t timeout_ns, bool stores_too = true) {
    const std::uint32_t seen = word_.load(std::memory_order_acquire);
    announced_.fetch_or(stores_too ? by_anything : by_runtime, std::memory_order_acq_rel);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // An announcement that nobody took stays: it may be another thread's too, and costs the next ringer one call.
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
    if ((announced_.load(std::memory_order_relaxed) & whom) != 0) [[unlikely]]
      ring_sleepers();
  }
  void ring_sleepers() noexcept;
  wake sleep_on(std::uint32_t seen, std::int64_t timeout_ns) noexcept;

  alignas(64) std::atomic<std::uint32_t> announced_;  // alone in its line: ringers read it all the time
  alignas(64) std::atomic<std::uint32_t> word_;
};

}  // namespace lull::wait
