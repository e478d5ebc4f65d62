// How long the computing of a process takes: the time that its program states, multiplied by compute_scale, by how fast
// its node is (imbalance), and by what interrupts it (noise).
#pragma once
#include <cmath>
#include <cstdint>

#include "netsim/program/play_options.hpp"
#include "netsim/routing.hpp"

namespace lull::netsim {

class pace {
 public:
  // The draws of a process depend on nothing but the seed of the simulation, its job and its rank.
  pace(const play_options& options, std::uint32_t rank)
      : random_(options.seed ^ std::uint64_t{rank} << 32U), noise_(options.noise), factor_(options.compute_scale) {
    if (options.imbalance > 0) factor_ *= 1 + options.imbalance * (2 * random_.uniform() - 1);
  }

  // Of one computation.
  [[nodiscard]] picoseconds of(picoseconds computing) {
    if (noise_ == 0) [[likely]]
      return times(computing, factor_);
    return times(computing, factor_ * (1 - noise_ * std::log(random_.uniform())));
  }
  // Of one that is not executed: its mean.
  [[nodiscard]] picoseconds mean_of(picoseconds computing) const { return times(computing, factor_ * (1 + noise_)); }

 private:
  static picoseconds times(picoseconds computing, double factor) {
    if (factor == 1) return computing;
    return static_cast<picoseconds>(std::llround(static_cast<double>(computing) * factor));
  }

  generator random_;
  double noise_;
  double factor_;
};

}  // namespace lull::netsim
