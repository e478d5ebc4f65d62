#include "meter/parts/device_clock.hpp"

#include <algorithm>
#include <cstdlib>

namespace lull::meter {
namespace {

constexpr std::int64_t farthest_apart_ns = 1'000'000'000;

}  // namespace

std::int64_t device_clock::at(std::int64_t stamp_ns, std::int64_t now_ns) {
  const auto translated = [&] { return anchor_->now_ns + (stamp_ns - anchor_->stamp_ns); };
  // An unchanged stamp is not checked: a device that has stopped updating falls behind without a clock step.
  const bool moved = !anchor_ || stamp_ns != latest_stamp_ns_;
  if (!anchor_ || stamp_ns < latest_stamp_ns_ || (moved && std::abs(translated() - now_ns) > farthest_apart_ns))
    anchor_ = anchor{stamp_ns, now_ns};
  latest_stamp_ns_ = stamp_ns;
  latest_ns_ = std::max(latest_ns_, std::min(translated(), now_ns));
  return latest_ns_;
}

}  // namespace lull::meter
