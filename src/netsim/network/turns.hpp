// Threads simulate the parts of a network (parts.hpp) in turns: in each turn, all parts simulate the same window.
//
// Each thread has a part of its own. A thread that has simulated its part waits for a moment and then adopts a part that
// no thread has begun, because the thread of that part presumably has no core. The others wait only for
// parts that a thread has begun; if that thread loses its core, they wait until it has one again. The thread that ends
// the last part of a turn begins the next turn.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

namespace lull::netsim {

class turns {
 public:
  // Instead of a window: the first turn prepares the parts.
  static constexpr std::int64_t preparation = -1;
  // Parts return the first window that they want, or:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t stop = std::numeric_limits<std::int64_t>::min();

  // No window after `last` is simulated.
  turns(unsigned parts, std::int64_t last) : seats_(parts), left_(parts), last_(last) {}

  // Called by one thread for each part, whose number is `own`; returns when the simulation has ended. `simulate(part,
  // window)` returns the first window that the part wants next. It is called once in each turn for each part, by any
  // thread, and must not throw; what a call has written, the next one for the same part and all calls of the next turn
  // can read.
  template <class Simulate>
  void take(unsigned own, const Simulate& simulate);

  // For a thread that cannot start: all others end.
  void abandon() { over_.store(true); }

  // What a part has done so far, for the display of progress.
  void report(unsigned part, std::uint64_t events, std::uint64_t messages) {
    seats_[part].events.store(events, std::memory_order_relaxed);
    seats_[part].messages.store(messages, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t events() const { return sum(&seat::events); }
  [[nodiscard]] std::uint64_t messages() const { return sum(&seat::messages); }

 private:
  // In polls, of some 20 ns.
  static constexpr unsigned adopt_after = 128, least_polls = 256, most_polls = 4096;
  static constexpr auto shortest_nap = std::chrono::microseconds(50), longest_nap = std::chrono::microseconds(1000);

  struct alignas(128) seat {
    std::atomic<std::uint64_t> claimed{0};  // the last turn in which a thread has begun the part
    std::int64_t wanted = none;
    std::atomic<std::uint64_t> events{0}, messages{0};
  };

  // Simulates a part in this turn, unless another thread does or has done so. A thread that is late may believe that an
  // earlier turn goes on, in which all parts are claimed; so after a successful claim the turn is the one that goes on
  // until finish().
  template <class Simulate>
  bool claim(unsigned part, std::uint64_t turn, const Simulate& simulate) {
    std::uint64_t before = turn - 1;
    if (seats_[part].claimed.load(std::memory_order_relaxed) != before ||
        !seats_[part].claimed.compare_exchange_strong(before, turn, std::memory_order_relaxed))
      return false;
    seats_[part].wanted = simulate(part, window_);
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) begin_turn(turn + 1);
    return true;
  }
  template <class Simulate>
  bool adopt(std::uint64_t turn, const Simulate& simulate) {
    for (unsigned part = 0; part < seats_.size(); ++part)
      if (claim(part, turn, simulate)) return true;
    return false;
  }
  void begin_turn(std::uint64_t turn) {
    window_ = none;
    for (const seat& s : seats_) window_ = std::min(window_, s.wanted);
    left_.store(static_cast<unsigned>(seats_.size()), std::memory_order_relaxed);
    if (window_ == stop || window_ > last_) over_.store(true, std::memory_order_relaxed);
    turn_.store(turn, std::memory_order_release);
  }
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }
  [[nodiscard]] std::uint64_t sum(std::atomic<std::uint64_t> seat::*count) const {
    std::uint64_t all = 0;
    for (const seat& s : seats_) all += (s.*count).load(std::memory_order_relaxed);
    return all;
  }

  std::vector<seat> seats_;
  alignas(128) std::atomic<std::uint64_t> turn_{1};
  std::atomic<bool> over_{false};
  std::int64_t window_ = preparation;        // of this turn
  alignas(128) std::atomic<unsigned> left_;  // parts that have not ended this turn
  std::int64_t last_;
};

template <class Simulate>
void turns::take(unsigned own, const Simulate& simulate) {
  unsigned polls = most_polls;  // before a nap; fewer, the more often it has waited in vain
  auto nap = shortest_nap;
  for (;;) {
    const std::uint64_t turn = turn_.load(std::memory_order_acquire);
    if (over_.load(std::memory_order_relaxed)) return;
    if (claim(own, turn, simulate)) nap = shortest_nap;
    for (unsigned polled = 0;
         turn_.load(std::memory_order_relaxed) == turn && !over_.load(std::memory_order_relaxed);) {
      pause();
      ++polled;
      if (polled % adopt_after == 0 && adopt(turn, simulate)) {
        polled = 0;
      } else if (polled >= polls) {
        std::this_thread::sleep_for(nap);
        polls = std::max(polls / 2, least_polls);
        nap = std::min(2 * nap, longest_nap);
        polled = 0;
      }
    }
    polls = std::min(polls + polls / 16, most_polls);
  }
}

}  // namespace lull::netsim
