// Which of several alternatives to take, by what is predicted of each and how sure that is: pure functions.
#pragma once
#include <cstddef>
#include <optional>
#include <span>

namespace lull::model {

// What is predicted, and between what it is.
struct interval {
  double low = 0, mid = 0, high = 0;
  bool operator==(const interval&) const = default;
};
[[nodiscard]] interval operator+(const interval& a, const interval& b);  // errors that do not cancel
[[nodiscard]] interval operator*(const interval& a, double factor);      // which may be negative

struct cost {
  interval seconds, joules;
};

// What is to be least; energy_within: energy, of those that are no slower than the present by more than a share.
enum class objective { time, energy, edp, energy_within };
struct aim {
  objective of = objective::time;
  double slowdown = 0;
};

// How an alternative changes what is to be least, a share of the present: below 0 is better. `change`: its cost less that of the
// present, whose own cost is `present`. Errors of a change are not those of the present: they do not cancel and do not add up.
[[nodiscard]] interval gain_of(const cost& present, const cost& change, const aim& wanted);

enum class verdict { better, no_better, unsure, too_slow };
// Better: its whole interval is, and by `least_gain` in the middle. Unsure: its middle is, but not all of its interval.
[[nodiscard]] verdict judge(const cost& present, const cost& change, const aim& wanted, double least_gain);

// The best of those that are better, by the middle; nothing where none is: then the present stays.
[[nodiscard]] std::optional<std::size_t> choose(const cost& present, std::span<const cost> changes, const aim& wanted,
                                                double least_gain);

}  // namespace lull::model
