// Rejects implausible powers of a whole-node meter, so that they are not recorded as measurements.
//
// A power outside the range of LULL_NODE_WATTS is rejected, and so is one that differs from the previous reading by
// more than a factor of `most_jump`, which no node can do: the unit has changed. A jump that lasts for `lasting`
// readings is accepted as the new level, because the earlier readings may have been the wrong ones.
#pragma once
#include <string>
#include <string_view>

namespace lull::meter {

struct watt_range {
  double low = 0, high = 0;
};

// The setting LULL_NODE_WATTS. Throws lull::usage_error if it is not a range.
[[nodiscard]] watt_range plausible_watts_of_node();

class plausible_power {
 public:
  static constexpr double most_jump = 20;
  static constexpr int lasting = 3;

  explicit plausible_power(watt_range range) : range_(range) {}

  // Why the next reading is rejected; empty if it is accepted.
  [[nodiscard]] std::string doubt(double watts);

 private:
  watt_range range_;
  double last_ = 0;  // the last accepted reading; 0: none
  double jumped_to_ = 0;
  int jumps_ = 0;  // consecutive ones to about the same level
};

}  // namespace lull::meter
