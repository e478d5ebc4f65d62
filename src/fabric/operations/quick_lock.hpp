// A lock that is held for a few instructions, never across a call that waits or sends. Taking it costs one atomic
// exchange and releasing it a store; a mutex takes two exchanges.
#pragma once
#include <sched.h>

#include <atomic>

namespace lull::fabric {

class quick_lock {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire)) wait();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  void wait() const {
    constexpr int looks = 64;
    for (int i = 0; i < looks; ++i)
      if (!taken_.load(std::memory_order_relaxed)) return;
    sched_yield();  // the holder may have lost its core
  }
  std::atomic<bool> taken_{false};
};

}  // namespace lull::fabric
