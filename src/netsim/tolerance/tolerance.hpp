// How much longer messages may take until a program has slowed down by a given share, computed from one run with links
// that are always active (Shen et al., LLAMP: Assessing Network Latency Tolerance of HPC Applications with Linear
// Programming, SC 2024, ask the same of latency, and solve it as a linear program).
//
// Each size is the root of a convex function that is linear in pieces (longest_path.hpp): Newton's method from above
// ends in the piece of the root, usually after three to six passes over the graph.
#pragma once
#include <optional>

#include "netsim/simulation.hpp"
#include "netsim/tolerance/dependencies.hpp"

namespace lull::netsim {

// Throws lull::usage_error if it cannot be found for such a simulation.
void check_tolerance(const simulation& asked);

[[nodiscard]] job_tolerance find_tolerance(const dependencies& recorded, const simulation& asked, picoseconds start);

}  // namespace lull::netsim
