// A figure of the machine that is corrected by what is observed, and a choice by such figures that does not flap. Pure: they
// are told, and answer.
//
//   corrected_term   its value is what was predicted → saw() a few: their median → saw() more: exponentially forgotten
//   steady_choice    look() at the costs of all alternatives → the one that is taken from now on
//
// What was predicted may be wrong by any factor, so it counts as nothing once something was seen. From then on each
// observation moves the value by a share of its distance. An outlier, of which machines that others use have many, counts as
// if it were some spreads away; the spread, the mean distance of what is seen, grows when observations stay away, so that a
// change of the machine is followed in a number of observations that grows with the logarithm of the change.
//
// With correction_rules::off the value stays what was predicted; another alternative is never taken.
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

  // Of the unit of what was predicted; at least 0.
  void saw(double observed);
  // It may have changed since it was seen: what is seen next takes its place.
  void forget() { seen_ = 0; }

  [[nodiscard]] double predicted() const { return predicted_; }
  [[nodiscard]] double value() const { return value_; }
  [[nodiscard]] double spread() const { return spread_; }  // 0 before three were seen
  // Of all that were seen, outliers as they counted; nothing where none was.
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
  std::uint32_t seen_ = 0;  // of these
  std::uint64_t all_ = 0;
  double sum_ = 0;
};

class steady_choice {
 public:
  explicit steady_choice(std::size_t first = 0, const correction_rules& how = {}) : how_(how), taken_(first) {}

  // Costs by alternative, infinite where nothing is known. Another is taken when it has been the best in several looks one
  // after the other, each time by a share. Of equals the first is the best.
  std::size_t look(std::span<const double> costs);
  // It is taken at once.
  void take(std::size_t alternative);

  [[nodiscard]] std::size_t taken() const { return taken_; }
  [[nodiscard]] std::uint32_t switches() const { return switches_; }

 private:
  correction_rules how_;
  std::size_t taken_, better_ = 0;
  std::uint32_t looks_ = 0, switches_ = 0;  // looks in which better_ was the best
};

}  // namespace lull::model
