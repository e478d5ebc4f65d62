// The definitions of a trace as OTF2 has them, written.
#pragma once
#include <vector>

#include "trace/energy.hpp"
#include "trace/events.hpp"
#include "trace/otf2.hpp"

namespace lull::trace {

// Closes the local files of definitions, too: there is one for each location. Throws lull::error.
void write_definitions(OTF2_Archive* archive, const definitions& all, const std::vector<energy_series>& energy);

}  // namespace lull::trace
