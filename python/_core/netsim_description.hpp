// A simulation out of JSON that mirrors `struct simulation` field by field.
//
// Times are whole picoseconds, sizes whole bytes, rates bytes/s. Every field must be there and no other: what a user
// left out or wrote wrong has been dealt with where his file is read (python/lull/simulation), so a mismatch is a
// mistake of ours, and throws std::invalid_argument naming the field.
#pragma once
#include <string>

#include "netsim/simulation.hpp"

namespace lull::python {

[[nodiscard]] netsim::simulation read_simulation(const std::string& json);

}  // namespace lull::python
