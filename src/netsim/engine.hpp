// (placeholder, replaced by the engine)
#pragma once
#include "base/error.hpp"
#include "netsim/simulation.hpp"
#include "netsim/topology.hpp"

namespace lull::netsim {

template <topology_shape T>
result run_engine(const T& /*topology*/, const simulation& /*asked*/, const progress& /*shown*/) {
  throw error("simulate", "the engine is not there yet");
}

}  // namespace lull::netsim
