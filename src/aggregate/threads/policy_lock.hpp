// A lock between the threads of a PE. A thread that finds it taken waits according to the PE's wait policy; unlock()
// wakes it.
//
// Without contention it costs one atomic exchange to lock and one to unlock. It is not recursive: a thread that may
// already hold it checks is_mine(). A waiter may also wait for another condition, whichever comes first. The lock is
// usually held for less time than it takes to fall asleep and wake up, so a waiter checks a few more times before it
// sleeps.
#pragma once
#include <atomic>

#include "fabric/world.hpp"
#include "wait/relax.hpp"

namespace lull::aggregate {

// Different for each thread that exists at the same time.
inline const void* this_thread() {
  static thread_local const char mark = 0;
  return &mark;
}

class policy_lock {
 public:
  explicit policy_lock(fabric::world& world) : world_(world) {}

  [[nodiscard]] bool try_lock() {
    if (held_.load(std::memory_order_relaxed) || held_.exchange(true, std::memory_order_acquire)) return false;
    owner_.store(this_thread(), std::memory_order_relaxed);
    return true;
  }
  void lock() {
    (void)lock_unless([] { return false; });
  }
  // Returns whether it has the lock; if not, ready() holds.
  template <class Ready>
  [[nodiscard]] bool lock_unless(Ready&& ready) {
    if (try_lock()) return true;
    const bool oversubscribed = oversubscribed_.load(std::memory_order_relaxed);
    for (int looks = oversubscribed ? looks_if_oversubscribed : looks_usually; looks != 0; --looks) {
      if (ready()) return false;
      if (try_lock()) return true;
      if (oversubscribed)
        wait::waiting::pass_on();
      else
        wait::plain_pause();
    }
    waiting_.fetch_add(1, std::memory_order_seq_cst);
    bool mine = false;
    wait([&] { return mine || ready() || (mine = try_lock()); });
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    return mine;
  }
  void unlock() {
    owner_.store(nullptr, std::memory_order_relaxed);
    // Must precede the read of waiting_: a waiter announces itself before it tries to lock.
    held_.exchange(false, std::memory_order_seq_cst);
    if (waiting_.load(std::memory_order_seq_cst) != 0) world_.memory().bell_of(world_.me()).ring();
  }
  // Waits for another condition, in the same way.
  template <class Ready>
  void wait(Ready&& ready) {
    world_.wait().until({wait::operation::aggregate}, [&] {
      if (ready()) return true;
      if (oversubscribed_.load(std::memory_order_relaxed)) wait::waiting::pass_on();
      return false;
    });
  }
  // Set when threads outnumber cores: a waiter then yields its core between two checks.
  void set_oversubscribed(bool oversubscribed) { oversubscribed_.store(oversubscribed, std::memory_order_relaxed); }
  [[nodiscard]] bool is_mine() const { return owner_.load(std::memory_order_relaxed) == this_thread(); }

 private:
  static constexpr int looks_usually = 200, looks_if_oversubscribed = 4;

  fabric::world& world_;
  std::atomic<bool> held_{false};
  std::atomic<const void*> owner_{nullptr};
  std::atomic<int> waiting_{0};
  std::atomic<bool> oversubscribed_{false};
};

}  // namespace lull::aggregate
