// The interface of wait policies. A policy is a small class, constructed for one wait. next() returns the next step,
// until the condition of the wait holds; `traffic` says whether the last round of progress handled anything.
//
//   explicit NAME(const wait_case& c);
//   step next(bool traffic);
//   sleep_plan plan() const;              of the sleep that next() has just returned
//   void ended(std::int64_t waited_ns);   optional
//
// Each policy is a file in this folder; wait/policies.hpp lists them.
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
  bool oversubscribed = false;            // there are more PEs than cores that they may use
  std::size_t threshold = 16384;          // bytes from which a transfer is worth an early sleep or a lower frequency
  std::int64_t (*now)() = [] { return now_ns(); };
};

// A transfer so small that policies treat its wait as short. A wait without a size is no transfer.
[[nodiscard]] constexpr bool is_small_transfer(const awaited& what, const wait_limits& limits) {
  return what.bytes > 0 && what.bytes < limits.threshold;
}
[[nodiscard]] constexpr bool is_large_transfer(const awaited& what, const wait_limits& limits) {
  return what.bytes > 0 && what.bytes >= limits.threshold;
}

// The arguments of a policy. All of them outlive the wait.
struct wait_case {
  const wait_limits& limits;
  const awaited& what;
  wait_history& history;
};

// The longest duration of a sleep, and whether its time-out is intended (a timer) or means that a wake-up may be
// missing.
struct sleep_plan {
  std::int64_t ns;
  bool by_timer = false;
};

}  // namespace lull::wait
