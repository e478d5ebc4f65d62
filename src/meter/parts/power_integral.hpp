// Integrates power readings to energy, for meters without joules: the trapezoid between consecutive readings, with its
// possible error.
//
//   between two readings   the mean of both; the error is half their difference, if the power stayed between the two
//   across a gap           (a reading that failed, or came more than `longest` after the previous one) the mean of
//                          both; the error assumes any power between zero and the highest possible
//   since the last one     the last power continues; the error is as across a gap
//
// The highest possible power is the limit that the meter states, or else the highest power seen. The energy never
// decreases: if the continued power was too high, the energy stands still until the readings have caught up.
#pragma once
#include <cstdint>
#include <optional>

#include "meter/source.hpp"

namespace lull::meter {

class power_integral {
 public:
  // `most_watts` 0: no limit is known.
  explicit power_integral(std::int64_t longest_ns, double most_watts = 0)
      : longest_ns_(longest_ns), most_watts_(most_watts) {}

  // The next power reading; none means that it failed. Times do not decrease.
  void push(std::optional<double> watts, std::int64_t time_ns);
  // Microjoules up to `time_ns`, which is not before the last push; no value during a gap.
  [[nodiscard]] reading at(std::int64_t time_ns);

 private:
  struct power {
    double watts;
    std::int64_t time_ns;
  };

  std::int64_t longest_ns_;
  double most_watts_;
  std::optional<power> last_;
  bool failed_ = false;     // since the last good one
  bool gap_shown_ = false;  // by at()
  int bridged_ = 0;
  double settled_uj_ = 0, doubt_uj_ = 0;
  double shown_uj_ = 0;
};

}  // namespace lull::meter
