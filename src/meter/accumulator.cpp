#include "meter/accumulator.hpp"

#include <algorithm>

namespace lull::meter {

double accumulator::possible_in(std::int64_t ns) const {
  return limits_.max_per_second * 1e-9 * static_cast<double>(std::max<std::int64_t>(ns, 0) + limits_.slack_ns);
}

double accumulator::missing_at_most() const {
  if (!gap_open_) return missing_;
  return missing_ + possible_in(latest_ns_ - (base_ ? base_->time_ns : first_gap_ns_));
}

step accumulator::push(std::optional<std::uint64_t> value, std::int64_t time_ns, continuity since) {
  latest_ns_ = time_ns;
  if (!value) {
    if (gaps_++ == 0) first_gap_ns_ = time_ns;
    gap_open_ = true;
    return gap{};
  }
  gap_open_ = false;
  if (!base_) {
    if (gaps_ > 0) {
      lower_bound_ = true;
      missing_ += possible_in(time_ns - first_gap_ns_);
    }
    base_ = known_value{*value, time_ns};
    return first{};
  }

  const bool rate_known = limits_.max_per_second > 0;
  const double possible = possible_in(time_ns - base_->time_ns);
  const std::uint64_t before = base_->value;
  const auto once_more_possible = [&](std::uint64_t amount) {
    return rate_known && limits_.range > 0 &&
           static_cast<double>(amount) + static_cast<double>(limits_.range) <= possible;
  };
  const auto accept = [&](std::uint64_t amount) {
    total_ += amount;
    if (once_more_possible(amount)) {
      lower_bound_ = true;
      missing_ += possible - static_cast<double>(amount);
    }
    base_ = known_value{*value, time_ns};
  };
  const auto start_again = [&] {
    ++resets_;
    lower_bound_ = true;
    missing_ += possible;
    base_ = known_value{*value, time_ns};
    return reset{};
  };

  if (since == continuity::broken) return start_again();
  if (since == continuity::doubtful) lower_bound_ = true;

  if (*value == before && !limits_.may_rest) {
    // Keeps the time of the last change, so that the catching up which follows does not look like a jump.
    if (once_more_possible(0)) lower_bound_ = true;
    ++stales_;
    return stale{};
  }
  if (*value >= before) {
    const std::uint64_t amount = *value - before;
    if (!rate_known || static_cast<double>(amount) <= possible) {
      accept(amount);
      return difference{amount};
    }
  } else if (rate_known && before <= limits_.range) {
    const std::uint64_t amount = limits_.range - before + *value;
    if (static_cast<double>(amount) <= possible) {
      before_wraps_ += limits_.range - before;
      accept(amount);
      ++wraps_;
      return wrapped{amount};
    }
  }
  return start_again();
}

}  // namespace lull::meter
