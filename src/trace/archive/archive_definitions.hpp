// Writes the definitions of a trace to an OTF2 archive.
#pragma once
#include <vector>

#include "trace/archive/energy.hpp"
#include "trace/archive/otf2.hpp"
#include "trace/events.hpp"

namespace lull::trace {

// Also closes the local definition files, one per location. Throws lull::error.
void write_definitions(OTF2_Archive* archive, const definitions& all, const std::vector<energy_series>& energy);

}  // namespace lull::trace
