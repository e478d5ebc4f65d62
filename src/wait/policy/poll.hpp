// Spins. On an oversubscribed host it yields the core in each step, so that the awaited PE can run.
#pragma once
#include "wait/policy/policy.hpp"

namespace lull::wait {

class poll_policy {
 public:
  explicit poll_policy(const wait_case& c) : next_(c.limits.oversubscribed ? step::yield : step::spin) {}
  step next(bool /*traffic*/) { return next_; }
  [[nodiscard]] static sleep_plan plan() { return {0}; }

 private:
  step next_;
};

}  // namespace lull::wait
