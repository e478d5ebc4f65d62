// A GOAL file, text or binary, as its content shows.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "netsim/goal/graph.hpp"
#include "netsim/goal/text_reader.hpp"

namespace lull::netsim {

// Whether the file's content is GOAL. False if it cannot be read.
[[nodiscard]] bool is_goal(const std::string& path);

// The graphs of the file. The last one stays in memory, because a description is simulated several times. Throws
// lull::error, which names the place in the file.
[[nodiscard]] std::shared_ptr<const goal_graph> read_goal(const std::string& path, const goal_progress& progress = {});

// The number of ranks, without reading the whole file.
[[nodiscard]] std::uint32_t ranks_of_goal(const std::string& path);

}  // namespace lull::netsim
