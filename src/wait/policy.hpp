// How to wait, as small types. A wait asks its policy again and again what to do next, until what it waits for is
// there; it tells whether its last round of progress handled any traffic.
//
//   poll       spins; when PEs outnumber cores it yields the core each time, or the PE it waits for could not run
//   interrupt  spins about the price of a wake-up and then sleeps. Traffic begins the spin anew: what is awaited may be
//              next. Not so when the awaited transfer is a large one, whose own pieces are the traffic. When PEs
//              outnumber cores it does not spin at all (a spin there keeps the awaited PE off the core) but yields a
//              few times and then sleeps; a yield that took long gave the core to somebody with work to do, so it
//              sleeps at once
//   adaptive   sleeps until shortly before the predicted end, spins across it, and sleeps again when the end is overdue
//
// poll+dvfs and interrupt+dvfs wait like poll and interrupt, and when_to_lower() says when they lower the frequency.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"
#include "model/waiting.hpp"
#include "wait/awaited.hpp"

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

enum class lowering { never, at_once, after_spin };

// A large transfer is known to take its time; of a barrier or a flag nothing is known until it has taken some.
[[nodiscard]] constexpr lowering when_to_lower(wait_policy policy, const awaited& what, const wait_limits& limits) {
  if (!lowers_frequency(policy) || is_small_transfer(what, limits)) return lowering::never;
  return is_large_transfer(what, limits) ? lowering::at_once : lowering::after_spin;
}

// What every policy answers besides next(): how long the sleep it has just asked for may last, and whether its end by
// time-out is meant (an alarm) or a sign that a wake-up is missing.
struct sleep_plan {
  std::int64_t ns;
  bool alarm = false;
};

class poll_policy {
 public:
  explicit poll_policy(const wait_limits& limits) : next_(limits.oversubscribed ? step::yield : step::spin) {}
  step next(bool /*traffic*/) { return next_; }
  [[nodiscard]] static sleep_plan plan() { return {0}; }

 private:
  step next_;
};

class interrupt_policy {
 public:
  explicit interrupt_policy(const wait_limits& limits, bool spin_anew = true)
      : limits_(limits), spin_anew_(spin_anew), yields_left_(limits.oversubscribed ? limits.yields : 0) {
    if (!limits.oversubscribed) begin_spin();
  }
  step next(bool traffic) {
    if (limits_.oversubscribed) return yield_or_sleep();
    if (traffic && spin_anew_) begin_spin();
    if (spin_until_ == 0) return step::sleep;
    if (++spins_ % 16 == 0 && limits_.now() >= spin_until_) spin_until_ = 0;  // the clock costs more than a spin
    return step::spin;
  }
  [[nodiscard]] sleep_plan plan() const { return {limits_.timeout_ns}; }

 private:
  static constexpr std::int64_t long_yield_ns = 1'000'000;

  void begin_spin() {
    spins_ = 0;
    spin_until_ = limits_.spin_ns > 0 ? limits_.now() + limits_.spin_ns : 0;
  }
  step yield_or_sleep() {
    if (yields_left_ == 0) return step::sleep;
    const std::int64_t now = limits_.now();
    if (yielded_at_ != 0 && now - yielded_at_ > long_yield_ns) {
      yields_left_ = 0;
      return step::sleep;
    }
    yielded_at_ = now;
    --yields_left_;
    return step::yield;
  }

  const wait_limits& limits_;
  bool spin_anew_;
  int yields_left_;
  unsigned spins_ = 0;
  std::int64_t spin_until_ = 0;
  std::int64_t yielded_at_ = 0;
};

class adaptive_policy {
 public:
  [[nodiscard]] static bool worth_it(const model::slack_prediction& p, const wait_limits& limits) {
    return !limits.oversubscribed && model::sleep_pays(p, limits.spin_ns);
  }

  adaptive_policy(const wait_limits& limits, const model::slack_prediction& p, std::int64_t begin_ns)
      : limits_(limits),
        wake_at_(begin_ns + p.slack_ns - p.margin_ns),
        overdue_at_(begin_ns + p.slack_ns + p.margin_ns + limits.spin_ns) {}
  step next(bool /*traffic*/) {
    if (past_wake_ && ++spins_ % 8 != 0) return step::spin;
    now_ = limits_.now();
    if (wake_at_ - now_ > shortest_sleep_ns) return step::sleep;
    past_wake_ = now_ < overdue_at_;
    return past_wake_ ? step::spin : step::sleep;
  }
  [[nodiscard]] sleep_plan plan() const {
    const std::int64_t left = wake_at_ - now_;
    if (left <= 0) return {limits_.timeout_ns};
    return left <= limits_.timeout_ns ? sleep_plan{left, true} : sleep_plan{limits_.timeout_ns};
  }

 private:
  static constexpr std::int64_t shortest_sleep_ns = model::waiting_costs{}.shortest_sleep_ns;

  const wait_limits& limits_;
  std::int64_t wake_at_, overdue_at_;
  std::int64_t now_ = 0;
  unsigned spins_ = 0;
  bool past_wake_ = false;
};

}  // namespace lull::wait
