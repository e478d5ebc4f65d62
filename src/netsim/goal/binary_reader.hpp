// Reads GOAL in the binary form that LogGOPSim's txt2bin writes, on a machine of the same byte order:
//
//   8   4223: this is GOAL                     2342: LogGOPSim has used it up (--save-mem)
//   4   number of ranks, 1 largest cpu, 1 largest nic
//   16  for each rank: begin and end of its part, in bytes after the first 8 of the file
//
// and a part of each rank:
//
//   4   number of operations, 4 number of those without dependencies, 4 for each of these: its number
//   39  for each operation: 4 number of dependencies, 1 kind (1 send, 2 recv, 3 calc), 4 peer, 8 size, 4 tag, 1 cpu,
//       1 nic, 4 + 4 number and first of the edges to operations that require it, 4 + 4 to those that irequire it
//   4   for each edge: the number of an operation
//
// Memory in addition to the graph: the part of one rank at a time.
#pragma once
#include <cstdint>
#include <string>

#include "netsim/goal/graph.hpp"
#include "netsim/goal/text_reader.hpp"

namespace lull::netsim {

// Throws lull::error, which names the file, the rank and the operation.
[[nodiscard]] goal_graph read_goal_binary(const std::string& path, const goal_progress& progress);

// The number of ranks, from the begin of the file.
[[nodiscard]] std::uint32_t ranks_of_goal_binary(const std::string& path);

// Whether the file begins as such a file does. False if it cannot be read.
[[nodiscard]] bool is_goal_binary(const std::string& path);

}  // namespace lull::netsim
