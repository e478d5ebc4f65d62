#include "model/machine/correction.hpp"

#include <algorithm>
#include <cmath>

namespace lull::model {

// The median so far; of two values the lower one, because disturbances only delay a program.
void corrected_term::begin(double observed) {
  first_[seen_++] = observed;
  const auto end = first_.begin() + seen_;
  std::sort(first_.begin(), end);
  value_ = first_[(seen_ - 1) / 2];
  spread_ =
      seen_ < first ? 0 : std::min(first_[1] - first_[0], first_[2] - first_[1]);  // one of them may be an outlier
}

void corrected_term::saw(double observed) {
  if (how_.off) return;
  ++all_;
  if (seen_ < first) {
    begin(observed);
    sum_ = all_ == first ? first * value_ : sum_ + value_;  // discards delays at the very begin
    return;
  }
  const double farthest = how_.spreads_of_an_outlier * std::max(spread_, how_.least_spread * value_);
  const double distance = observed - value_;
  const double counted = farthest > 0 ? std::clamp(distance, -farthest, farthest) : distance;
  sum_ += value_ + counted;
  value_ += how_.weight_of_the_last * counted;
  spread_ = std::max(spread_, how_.least_spread * value_);
  spread_ += how_.weight_of_the_last * (std::abs(counted) - spread_);
}

std::size_t steady_choice::look(std::span<const double> costs) {
  if (how_.off) return taken_;
  const auto best = static_cast<std::size_t>(std::ranges::min_element(costs) - costs.begin());
  if (!(costs[best] < costs[taken_] * (1 - how_.least_gain))) {
    looks_ = 0;
    return taken_;
  }
  if (best != better_) looks_ = 0;
  better_ = best;
  if (++looks_ >= how_.looks_to_switch) take(best);
  return taken_;
}

void steady_choice::take(std::size_t alternative) {
  if (how_.off || alternative == taken_) return;
  taken_ = alternative;
  looks_ = 0;
  ++switches_;
}

}  // namespace lull::model
