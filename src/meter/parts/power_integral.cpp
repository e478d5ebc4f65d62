#include "meter/parts/power_integral.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>

namespace lull::meter {
namespace {

constexpr double microjoules(double watts, std::int64_t ns) { return watts * static_cast<double>(ns) * 1e-3; }

}  // namespace

void power_integral::push(std::optional<double> watts, std::int64_t time_ns) {
  if (!watts) {
    failed_ = true;
    return;
  }
  most_watts_ = std::max(most_watts_, *watts);
  if (last_) {
    const std::int64_t passed = time_ns - last_->time_ns;
    const double mean = microjoules((last_->watts + *watts) / 2, passed);
    settled_uj_ += mean;
    if (failed_ || passed > longest_ns_) {
      doubt_uj_ += std::max(mean, microjoules(most_watts_, passed) - mean);
      if (!gap_shown_) ++bridged_;
    } else {
      doubt_uj_ += microjoules(std::abs(*watts - last_->watts) / 2, passed);
    }
  }
  last_ = power{*watts, time_ns};
  failed_ = gap_shown_ = false;
}

reading power_integral::at(std::int64_t time_ns) {
  if (!last_ || failed_ || time_ns - last_->time_ns > longest_ns_) {
    gap_shown_ = true;
    return {.value = {}, .error = EIO, .time_ns = time_ns};
  }
  const std::int64_t since = time_ns - last_->time_ns;
  shown_uj_ = std::max(shown_uj_, settled_uj_ + microjoules(last_->watts, since));
  const double value = std::floor(shown_uj_);
  return {.value = static_cast<std::uint64_t>(value),
          .error = 0,
          .time_ns = time_ns,
          .since = continuity::kept,
          .doubt = doubt_uj_,
          .pending = std::max(value - settled_uj_, settled_uj_ + microjoules(most_watts_, since) - value),
          .bridged = bridged_};
}

}  // namespace lull::meter
