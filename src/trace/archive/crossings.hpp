// Messages between hosts whose clocks differ, with the times that the clocks gave: what joined_clocks::correct needs.
#pragma once
#include <vector>

#include "trace/archive/clocks.hpp"
#include "trace/archive/joined.hpp"

namespace lull::trace {

// Reads all records once; of a stream of messages a part is kept, spread over the run.
[[nodiscard]] std::vector<crossing> find_crossings(const joined& all, const joined_clocks& clocks);

}  // namespace lull::trace
