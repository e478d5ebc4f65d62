// Spins for about the cost of a wake-up, then sleeps. Traffic restarts the spin, since the awaited message may be next.
// For a large transfer the traffic is its own fragments: they restart the spin until the first sleep, but not after it.
// On an oversubscribed host it does not spin, which would keep the awaited PE off the core, but yields a few times and
// then sleeps. A yield that took long has given the core to a process with work to do, so the next step is a sleep.
#pragma once
#include "wait/policy/policy.hpp"

namespace lull::wait {

class interrupt_policy {
 public:
  explicit interrupt_policy(const wait_case& c)
      : limits_(c.limits),
        of_pieces_(is_large_transfer(c.what, c.limits)),
        yields_left_(c.limits.oversubscribed ? c.limits.yields : 0) {
    if (!limits_.oversubscribed) begin_spin();
  }
  step next(bool traffic) {
    if (limits_.oversubscribed) return yield_or_sleep();
    if (traffic && spin_anew_) begin_spin();
    if (spin_until_ == 0) {
      spin_anew_ = !of_pieces_;
      return step::sleep;
    }
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
  bool of_pieces_, spin_anew_ = true;
  int yields_left_;
  unsigned spins_ = 0;
  std::int64_t spin_until_ = 0;
  std::int64_t yielded_at_ = 0;
};

}  // namespace lull::wait
