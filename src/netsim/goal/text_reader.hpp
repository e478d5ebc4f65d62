// Reads GOAL as text, in one pass with a buffer of fixed size:
//
//   num_ranks 2
//   rank 0 {
//     work: calc 1500 cpu 0           // nanoseconds
//     out: send 16b to 1 tag 3 cpu 0 nic 0
//     out requires work               /* out begins after work has ended */
//   }
//   rank 1 { recv 16b from -1 tag -1
//   }
//
// One statement a line. `irequires`: begins after the other has begun. A label is a letter or '_', then letters, digits
// and '_'; it is known in its rank from the line that defines it on. tag, cpu and nic are optional, in any order, 0 by
// default. Ranks may come in any order; a rank that is missing does nothing.
//
// Memory in addition to the graph: the labels and the dependencies of one rank at a time.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "netsim/goal/graph.hpp"

namespace lull::netsim {

// Gets the bytes read, and their total. Returns false to stop.
using goal_progress = std::function<bool(std::uint64_t done, std::uint64_t all)>;

// Throws lull::error, which names file and line.
[[nodiscard]] goal_graph read_goal_text(const std::string& path, const goal_progress& progress);

// The number of ranks, from the first statement.
[[nodiscard]] std::uint32_t ranks_of_goal_text(const std::string& path);

// Whether the file is such a text: its first word is num_ranks, and a number follows. False if it cannot be read.
[[nodiscard]] bool is_goal_text(const std::string& path);

}  // namespace lull::netsim
