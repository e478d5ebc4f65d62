// The definitions of a trace as OTF2 has them, written.
#pragma once
#include <vector>

#include "trace/archive/energy.hpp"
#include "trace/archive/otf2.hpp"
#include "trace/events.hpp"

namespace lull::trace {

// Closes the local files of definitions, too: there is one for each location. Throws lull::error.
void write_definitions(OTF2_Archive* archive, const definitions& all, const std::vector<energy_series>& energy);

}  // namespace lull::trace
