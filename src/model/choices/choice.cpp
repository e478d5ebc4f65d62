#include "model/choices/choice.hpp"

#include <algorithm>

namespace lull::model {
namespace {

// As a share of `of`; no change if that is 0.
interval relative(const interval& change, double of) { return of > 0 ? change * (1 / of) : interval{}; }

}  // namespace

interval operator+(const interval& a, const interval& b) { return {a.low + b.low, a.mid + b.mid, a.high + b.high}; }

interval operator*(const interval& a, double factor) {
  const interval made{a.low * factor, a.mid * factor, a.high * factor};
  return factor < 0 ? interval{made.high, made.mid, made.low} : made;
}

interval gain_of(const cost& present, const cost& change, const aim& wanted) {
  const interval time = relative(change.seconds, present.seconds.mid);
  const interval energy = relative(change.joules, present.joules.mid);
  switch (wanted.of) {
    case objective::time:
      return time;
    case objective::energy:
    case objective::energy_within:
      return energy;
    case objective::edp:
      break;
  }
  const auto product = [](double a, double b) { return (1 + a) * (1 + b) - 1; };
  return {product(time.low, energy.low), product(time.mid, energy.mid), product(time.high, energy.high)};
}

verdict judge(const cost& present, const cost& change, const aim& wanted, double least_gain) {
  if (wanted.of == objective::energy_within) {
    const interval time = relative(change.seconds, present.seconds.mid);
    if (time.mid > wanted.slowdown) return verdict::too_slow;
    if (time.high > wanted.slowdown) return verdict::unsure;
  }
  const interval gain = gain_of(present, change, wanted);
  if (gain.mid > -least_gain) return verdict::no_better;
  return gain.high < 0 ? verdict::better : verdict::unsure;
}

std::optional<std::size_t> choose(const cost& present, std::span<const cost> changes, const aim& wanted,
                                  double least_gain) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (judge(present, changes[i], wanted, least_gain) != verdict::better) continue;
    if (!best || gain_of(present, changes[i], wanted).mid < gain_of(present, changes[*best], wanted).mid) best = i;
  }
  return best;
}

}  // namespace lull::model
