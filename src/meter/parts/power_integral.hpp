// From power readings to energy, for meters that know no joules: the trapezoid between every two readings, with what
// that may be wrong by.
//
//   between two readings   the mean of both; off by half their difference, if the power went from one to the other
//                          without leaving that span
//   across a gap           (a reading that failed, or that came more than `longest` after the one before) the mean of
//                          both; off by whatever power between nothing and the most possible would have made of it
//   since the last one     the last power goes on; off by the same
//
// The most possible is what the meter states as its limit, or else the highest power seen. The energy never falls, so
// what went on too high while a reading was outstanding is made up for by standing still.
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
  // Microjoules up to `time_ns`, not before the last push; nothing while a gap is open.
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
