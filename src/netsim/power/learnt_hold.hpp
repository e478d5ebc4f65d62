// A hold that each link learns from its pauses (after Saravanan and Carpenter, PerfBound, 2018).
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "netsim/power/power_mode.hpp"

namespace lull::netsim {

// The shortest hold with which the wake-ups of the latest pauses would have cost at most `bound` of the time that they
// span. Since the past does not predict every pause, a link also waits until `bound` of the total time so far covers
// one more wake-up, which makes `bound` a strict limit.
class learnt_hold {
 public:
  struct limits {
    double bound;
    picoseconds wake;  // the longest delay of a wake-up
  };
  struct pause {
    picoseconds gap;
    picoseconds elapsed;  // since the previous pause ended
    picoseconds delay;    // of the wake-up that ended it
  };
  explicit learnt_hold(picoseconds first) : learnt_(first) {}

  // The current hold.
  [[nodiscard]] picoseconds hold(const limits& l) const {
    const double unpaid = (static_cast<double>(l.wake) - budget_) / l.bound;
    return std::max(learnt_, static_cast<picoseconds>(std::min(unpaid, 0.25 * static_cast<double>(never))));
  }
  void record(const pause& p, const limits& l);

 private:
  static constexpr int finest = 16;  // bins are octaves from 2^16 ps = 66 ns to 2 s
  static constexpr std::uint16_t review_after = 64;
  std::array<std::uint16_t, 24> pauses_{};
  std::uint16_t seen_ = 0;
  picoseconds span_ = 0;
  picoseconds learnt_;
  double budget_ = 0;  // picoseconds of allowed delay that have not been used
};

inline void learnt_hold::record(const pause& p, const limits& l) {
  budget_ += l.bound * static_cast<double>(p.elapsed) - static_cast<double>(p.delay);
  const int bin = std::clamp(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(p.gap))) - finest, 0, 23);
  ++pauses_[static_cast<std::size_t>(bin)];
  span_ += p.elapsed;
  if (++seen_ < review_after) return;
  // Starts at the longest pauses: each bin in which links may sleep adds its wake-ups.
  const double allowed = l.bound * static_cast<double>(span_) / static_cast<double>(l.wake);
  double wakes = 0;
  int first = 24;
  while (first > 0 && wakes + pauses_[static_cast<std::size_t>(first - 1)] <= allowed)
    wakes += pauses_[static_cast<std::size_t>(--first)];
  for (std::uint16_t& older : pauses_) older /= 2;  // halves the weight of older pauses
  span_ /= 2;
  seen_ /= 2;
  learnt_ = first == 0 ? 0 : first == 24 ? any_time : picoseconds{1} << (first - 1 + finest);
}

}  // namespace lull::netsim
