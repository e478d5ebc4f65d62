// The whole run, from a sample of its units: every kind of unit takes the mean time of those measured, and links lose
// the mean rest that those lost, as often as the run has the kind.
#pragma once
#include "netsim/sampling/losses.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {

// Throws lull::usage_error if the simulation cannot be sampled.
void check_sample(const simulation& asked);

// The same simulation with jobs that begin at random times: otherwise, those of equal programs would always send at the
// same time.
[[nodiscard]] simulation with_random_starts(const simulation& asked);

// Fills in `sampled` from its jobs' units, the losses, and the links of the result.
void estimate_whole(result& of, const simulation& asked, const link_losses& lost);

}  // namespace lull::netsim
