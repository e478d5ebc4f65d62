// How a sleeper is woken. Each PE has one doorbell in shared memory; it sleeps on it until whoever changed its memory
// rings.
//
// No wake-up is missed: the sleeper announces itself, fences, looks at the data again and only then sleeps, on a word
// that every ring changes; the ringer writes the data, fences, and looks for an announcement. One of the two always
// sees the other. The fence costs a ringer some 6 ns; when nobody sleeps that and one shared, clean cache line are all.
#pragma once
#include <atomic>
#include <cstdint>

#include "fabric/sanitizer.hpp"

namespace lull::fabric {

enum class wake { rung, timed_out };

class doorbell {
 public:
  // Call after the data has been written. Callable from any process that maps it.
  void ring() noexcept {
    told_others();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      ring_sleepers();
  }
  // The same for a caller whose last write was an atomic read-modify-write: on x86 that was the fence.
  void ring_after_atomic() noexcept {
    told_others();
#if !defined(__x86_64__)
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
    if (sleepers_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      ring_sleepers();
  }

  // Sleeps at most timeout_ns, not at all if ready() holds once the sleep has been announced.
  template <class Ready>
  wake sleep(Ready&& ready, std::int64_t timeout_ns) {
    const std::uint32_t seen = word_.load(std::memory_order_acquire);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const wake result = ready() ? wake::rung : sleep_on(seen, timeout_ns);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    return result;
  }

 private:
  void ring_sleepers() noexcept;
  wake sleep_on(std::uint32_t seen, std::int64_t timeout_ns) noexcept;

  alignas(64) std::atomic<std::uint32_t> sleepers_;  // alone in its line: ringers read it all the time
  alignas(64) std::atomic<std::uint32_t> word_;
};

}  // namespace lull::fabric
