// Which powers a meter of a whole node may show: nonsense must not be recorded as a measurement.
//
// A power outside the range of LULL_NODE_WATTS is none, nor is one that jumps as no node can: by more than `most_jump` from
// one reading to the next, which is a change of unit. When a jump lasts for `lasting` readings it is the new level, for the
// readings before may have been the wrong ones.
#pragma once
#include <string>
#include <string_view>

namespace lull::meter {

struct watt_range {
  double low = 0, high = 0;
};

// The setting LULL_NODE_WATTS. Throws lull::usage_error when it is no range.
[[nodiscard]] watt_range plausible_watts_of_node();

class plausible_power {
 public:
  static constexpr double most_jump = 20;
  static constexpr int lasting = 3;

  explicit plausible_power(watt_range range) : range_(range) {}

  // Why the next reading is none; empty when it may be one.
  [[nodiscard]] std::string doubt(double watts);

 private:
  watt_range range_;
  double last_ = 0;  // the last that was believed; 0: none was
  double jumped_to_ = 0;
  int jumps_ = 0;  // in a row, to about the same level
};

}  // namespace lull::meter
