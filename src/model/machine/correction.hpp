// A predicted constant of the machine that observations correct, and a stable choice between alternatives by such
// constants. Both are pure: they get values and return results.
//
//   corrected_term   its value: the prediction → after a few saw(): their median → after more: exponentially weighted
//   steady_choice    look() at the costs of all alternatives → the one to take from now on
//
// A prediction may be wrong by any factor, so it has no weight once something was observed. From then on each
// observation moves the value by a share of its distance. An outlier, which is frequent on shared machines, counts as
// if it were a few spreads away. The spread, the mean distance of observations, grows while observations stay away, so
// the value follows a change of the machine within a number of observations that grows with the logarithm of the
// change.
//
// With correction_rules::off the value remains the prediction, and the choice never changes.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "model/machine/machine.hpp"

namespace lull::model {

class corrected_term {
 public:
  explicit corrected_term(double predicted, const correction_rules& how = {})
      : predicted_(predicted), value_(predicted), how_(how) {}

  // In the unit of the prediction; at least 0.
  void saw(double observed);
  // The cost may have changed: the next observations replace the value.
  void forget() { seen_ = 0; }

  [[nodiscard]] double predicted() const { return predicted_; }
  [[nodiscard]] double value() const { return value_; }
  [[nodiscard]] double spread() const { return spread_; }  // 0 before three observations
  // Mean of all observations, with outliers as they were counted; none without observations.
  [[nodiscard]] std::optional<double> mean_seen() const {
    return all_ == 0 ? std::nullopt : std::optional(sum_ / static_cast<double>(all_));
  }

 private:
  static constexpr std::uint32_t first = 3;
  void begin(double observed);

  double predicted_, value_;
  double spread_ = 0;
  correction_rules how_;
  std::array<double, first> first_{};
  std::uint32_t seen_ = 0;  // number of values in first_
  std::uint64_t all_ = 0;
  double sum_ = 0;
};

class steady_choice {
 public:
  explicit steady_choice(std::size_t first = 0, const correction_rules& how = {}) : how_(how), taken_(first) {}

  // Costs by alternative, infinite if unknown. Another alternative is taken when it has been the best, by a share, in
  // several consecutive looks. Of equals the first is the best.
  std::size_t look(std::span<const double> costs);
  // Takes an alternative at once.
  void take(std::size_t alternative);

  [[nodiscard]] std::size_t taken() const { return taken_; }
  [[nodiscard]] std::uint32_t switches() const { return switches_; }

 private:
  correction_rules how_;
  std::size_t taken_, better_ = 0;
  std::uint32_t looks_ = 0, switches_ = 0;  // consecutive looks in which better_ was the best
};

}  // namespace lull::model
