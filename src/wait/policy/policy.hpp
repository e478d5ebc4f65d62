// What a wait policy is: a small class, made for one wait, that is asked again and again what to do next until what is
// awaited is there; it is told whether the last round of progress handled any traffic.
//
//   explicit NAME(const wait_case& c);
//   step next(bool traffic);
//   sleep_plan plan() const;              of the sleep that next() has just asked for
//   void ended(std::int64_t waited_ns);   if it wants to know
//
// The policies are in the files beside this one; wait/policies.hpp lists them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"
#include "wait/awaited.hpp"
#include "wait/history.hpp"

namespace lull::wait {

enum class step { spin, yield, sleep };

struct wait_limits {
  std::int64_t spin_ns = 50'000;
  int yields = 20;
  std::int64_t timeout_ns = 100'000'000;  // longest single sleep
  bool oversubscribed = false;            // PEs outnumber the cores they may use
  std::size_t threshold = 16384;          // bytes from which a transfer is worth an early sleep or a lower frequency
  std::int64_t (*now)() = [] { return now_ns(); };
};

// A transfer so small that its wait is never taken to be long. A wait without a size is no transfer.
[[nodiscard]] constexpr bool is_small_transfer(const awaited& what, const wait_limits& limits) {
  return what.bytes > 0 && what.bytes < limits.threshold;
}
[[nodiscard]] constexpr bool is_large_transfer(const awaited& what, const wait_limits& limits) {
  return what.bytes > 0 && what.bytes >= limits.threshold;
}

// What a policy is made from. All of it outlives the wait.
struct wait_case {
  const wait_limits& limits;
  const awaited& what;
  wait_history& history;
};

// How long a sleep may last, and whether its end by time-out is meant (a timer) or a sign that a wake-up is missing.
struct sleep_plan {
  std::int64_t ns;
  bool by_timer = false;
};

}  // namespace lull::wait
