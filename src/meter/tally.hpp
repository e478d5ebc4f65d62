// What one channel has counted so far, in joules: its accumulator times the worth of a unit, plus the energy that
// depends on time alone.
//
// Contract: joules() never decreases. The band [low_j, high_j] contains the systematic uncertainty of the source: that
// of its coefficients; for real meters that of reading them at either end (2 * update interval of T), or, if the source
// itself integrates power, the uncertainty that its readings state. Its lower end excludes what was not counted if a
// wrap was none; if the total is a lower bound, its upper end includes what may have been missed, if that is known.
#pragma once
#include <cstdint>
#include <optional>

#include "meter/source.hpp"

namespace lull::meter {

struct channel_total {
  double joules = 0;
  double low_j = 0;
  double high_j = 0;
  std::optional<std::uint64_t> bytes;  // of a channel that counts bytes
  int wraps = 0, gaps = 0, resets = 0, stale = 0;
  bool lower_bound = false;
};

class tally {
 public:
  explicit tally(const channel& c);
  void add(const reading& r);
  [[nodiscard]] double joules() const;
  [[nodiscard]] std::optional<std::uint64_t> bytes() const;  // so far; of a channel that counts bytes
  [[nodiscard]] channel_total total() const;
  // The most that was counted in addition to joules() without being seen, as far as that is known.
  [[nodiscard]] double missing_j() const { return joules_per_unit_.high * counted_.missing_at_most(); }

 private:
  [[nodiscard]] double with(double band::*bound) const;
  [[nodiscard]] double elapsed_s() const { return from_ns(last_.time_ns - first_.time_ns).value(); }
  [[nodiscard]] double doubted_units() const;

  accumulator counted_;
  band joules_per_unit_, watts_;
  double most_watts_;
  double edge_s_;  // time by which the energy at both ends together may be misattributed
  bool counts_bytes_;
  reading first_, last_;  // successful ones
};

}  // namespace lull::meter
