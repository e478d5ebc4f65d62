// A lock between the threads of a PE. A thread that finds it taken waits as the PE's policy says; the one that gives it
// up wakes it.
//
// Free of charge where nobody waits but for an exchange of a word each way. Not recursive: a thread that may have it
// already asks is_mine(). A waiter may also wait for something else meanwhile, whatever comes first. Mostly it is held for
// less time than a sleep takes to begin and end: so a waiter looks a few times more before it waits.
#pragma once
#include <atomic>

#include "fabric/world.hpp"
#include "wait/relax.hpp"

namespace lull::aggregate {

// Different for each thread that there is.
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
    held_.exchange(false, std::memory_order_seq_cst);  // before the look at who waits, as theirs is before their tries
    if (waiting_.load(std::memory_order_seq_cst) != 0) world_.memory().bell_of(world_.me()).ring();
  }
  // Waits for something else, in the same way.
  template <class Ready>
  void wait(Ready&& ready) {
    world_.wait().until({wait::operation::aggregate}, [&] {
      if (ready()) return true;
      if (oversubscribed_.load(std::memory_order_relaxed)) wait::waiting::pass_on();
      return false;
    });
  }
  // Threads outnumber cores: between two looks at what it waits for, a waiter lets another have its core.
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
