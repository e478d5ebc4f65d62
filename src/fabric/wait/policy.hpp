// How to wait, as small types. A wait asks its policy again and again what to do next, until what it waits for is
// there.
//
//   poll       spins; when PEs outnumber cores it yields the core each time, or the PE it waits for could not run
//   interrupt  spins about the price of a wake-up and then sleeps; when PEs outnumber cores it does not spin at all
//              (a spin there keeps the awaited PE off the core) but yields a few times and then sleeps
#pragma once
#include <cstdint>

#include "base/clock.hpp"

namespace lull::fabric {

enum class step { spin, yield, sleep };

struct wait_limits {
  std::int64_t spin_ns = 50'000;
  int yields = 20;
  std::int64_t timeout_ns = 100'000'000;  // longest single sleep
  bool oversubscribed = false;            // PEs outnumber the cores they may use
};

class poll_policy {
 public:
  explicit poll_policy(const wait_limits& limits) : next_(limits.oversubscribed ? step::yield : step::spin) {}
  step next() { return next_; }

 private:
  step next_;
};

class interrupt_policy {
 public:
  explicit interrupt_policy(const wait_limits& limits)
      : yields_left_(limits.oversubscribed ? limits.yields : 0),
        spin_until_(limits.oversubscribed ? 0 : now_ns() + limits.spin_ns) {}
  step next() {
    if (yields_left_ > 0) return --yields_left_, step::yield;
    if (spin_until_ == 0) return step::sleep;
    if (++spins_ % 16 == 0 && now_ns() >= spin_until_) spin_until_ = 0;  // the clock costs more than a spin
    return step::spin;
  }

 private:
  int yields_left_;
  unsigned spins_ = 0;
  std::int64_t spin_until_;
};

}  // namespace lull::fabric
