// Which of several alternatives to take, from their predicted costs and the uncertainty of these: pure functions.
#pragma once
#include <cstddef>
#include <optional>
#include <span>

namespace lull::model {

// A predicted value with its bounds.
struct interval {
  double low = 0, mid = 0, high = 0;
  bool operator==(const interval&) const = default;
};
[[nodiscard]] interval operator+(const interval& a, const interval& b);  // errors do not cancel
[[nodiscard]] interval operator*(const interval& a, double factor);      // the factor may be negative

struct cost {
  interval seconds, joules;
};

// What to minimise; energy_within: energy, among those that are slower than the present by at most a given share.
enum class objective { time, energy, edp, energy_within };
struct aim {
  objective of = objective::time;
  double slowdown = 0;
};

// How an alternative changes the quantity to minimise, as a share of the present value: below 0 is better. `change`:
// its cost minus that of the present alternative, whose cost is `present`. Errors of a change are not those of the
// present: they neither cancel nor add up.
[[nodiscard]] interval gain_of(const cost& present, const cost& change, const aim& wanted);

enum class verdict { better, no_better, unsure, too_slow };
// Better: the whole interval is below 0, and its middle by at least `least_gain`. Unsure: the middle is, but not the
// whole interval.
[[nodiscard]] verdict judge(const cost& present, const cost& change, const aim& wanted, double least_gain);

// The best of the better ones, by their middle; none if there is none, and the present one stays.
[[nodiscard]] std::optional<std::size_t> choose(const cost& present, std::span<const cost> changes, const aim& wanted,
                                                double least_gain);

}  // namespace lull::model
