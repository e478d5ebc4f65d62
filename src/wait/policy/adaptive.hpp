// Predicts the end of a wait from earlier waits of its kind. It sleeps until shortly before that end, spins, and sleeps
// again if the end is overdue. Without a prediction, or if a sleep would not pay, it waits like interrupt.
//
// With costs that have `reconsider` set, it spins through a wait that is predicted to be too short for a sleep. If the
// end is overdue it predicts again, from longer waits only: some kinds have many short waits and a few long ones.
#pragma once
#include <optional>

#include "model/costs/waiting.hpp"
#include "wait/policy/interrupt.hpp"
#include "wait/policy/policy.hpp"

namespace lull::wait {

class adaptive_policy {
 public:
  explicit adaptive_policy(const wait_case& c)
      : adaptive_policy(c, is_small_transfer(c.what, c.limits) ? std::nullopt : c.history.predict(c.what)) {}
  adaptive_policy(const wait_case& c, const std::optional<model::slack_prediction>& known)
      : adaptive_policy(c, known, c.history.costs()) {}
  // With costs other than those of the history.
  adaptive_policy(const wait_case& c, const std::optional<model::slack_prediction>& known,
                  const model::waiting_costs& costs)
      : limits_(c.limits), what_(c.what), history_(c.history), costs_(costs), may_reconsider_(costs.reconsider) {
    const bool pays = known && model::sleep_pays(*known, limits_.spin_ns, costs_);
    if (known && !limits_.oversubscribed) decided_ = timer_decision{*known, pays};
    if (!known || limits_.oversubscribed || (!pays && !costs_.reconsider)) {
      unpredicted_.emplace(c);
      return;
    }
    begin_ = limits_.now();
    expect(*known, begin_);
  }
  step next(bool traffic) {
    if (unpredicted_) return unpredicted_->next(traffic);
    if (past_wake_ && ++spins_ % spins_per_clock != 0) return step::spin;
    now_ = limits_.now();
    if (now_ >= overdue_at_ && may_reconsider_) reconsider();
    if (wake_at_ - now_ > costs_.shortest_sleep_ns) {
      past_wake_ = false;
      return step::sleep;
    }
    past_wake_ = now_ < overdue_at_;
    return past_wake_ ? step::spin : step::sleep;
  }
  [[nodiscard]] sleep_plan plan() const {
    if (unpredicted_) return unpredicted_->plan();
    const std::int64_t left = wake_at_ - now_;
    if (left <= 0) return {limits_.timeout_ns};
    return left <= limits_.timeout_ns ? sleep_plan{left, true} : sleep_plan{limits_.timeout_ns};
  }
  // Nothing if there was no prediction.
  [[nodiscard]] const std::optional<timer_decision>& decided() const { return decided_; }
  void ended(std::int64_t waited_ns) {
    if (!is_small_transfer(what_, limits_)) history_.waited(what_, waited_ns);
  }

 private:
  static constexpr unsigned spins_per_clock = 8;  // between readings of the clock, which cost more than a spin

  void expect(const model::slack_prediction& known, std::int64_t now) {
    const std::int64_t left = begin_ + known.slack_ns - now;
    wake_at_ = model::sleep_pays({left, known.margin_ns}, limits_.spin_ns, costs_) ? now + left - known.margin_ns : now;
    overdue_at_ = now + left + known.margin_ns + limits_.spin_ns;
  }
  void reconsider() {
    const auto longer = history_.predict_longer(what_, now_ - begin_);
    may_reconsider_ = longer.has_value();
    if (longer) expect(*longer, now_);
  }

  const wait_limits& limits_;
  const awaited& what_;
  wait_history& history_;
  const model::waiting_costs& costs_;
  bool may_reconsider_;
  std::optional<interrupt_policy> unpredicted_;
  std::optional<timer_decision> decided_;
  std::int64_t begin_ = 0, wake_at_ = 0, overdue_at_ = 0;
  std::int64_t now_ = 0;
  unsigned spins_ = 0;
  bool past_wake_ = false;
};

}  // namespace lull::wait
