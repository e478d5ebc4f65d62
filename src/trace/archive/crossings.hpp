// Messages between hosts with different clocks, with their uncorrected times, for joined_clocks::correct.
#pragma once
#include <vector>

#include "trace/archive/clocks.hpp"
#include "trace/archive/joined.hpp"

namespace lull::trace {

// Reads all records once; keeps a part of the messages, spread over the run.
[[nodiscard]] std::vector<crossing> find_crossings(const joined& all, const joined_clocks& clocks);

}  // namespace lull::trace
