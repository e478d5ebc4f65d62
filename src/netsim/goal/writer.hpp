// Writes a program as GOAL text, rank by rank, with as little memory as one stream needs. It reads the program twice.
//
// An operation that blocks is required by the next one of its rank; one that does not is `irequire`d by it, and required
// by the operation after the wait for it. Collectives become the messages of the algorithm that `auto` chooses; those of
// a non-blocking collective are on cpu 1, because they go on while the process computes. GOAL has no communicators, so
// messages of different ones, and of collectives, get different tags, from `first_own_tag` on.
//
// A synchronous send becomes a request, an answer and the message, at both of its ends. Ends of iterations are left out and
// counted. Puts, gets, atomics, and receives of any tag are rejected.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "netsim/program/program.hpp"

namespace lull::netsim {

inline constexpr std::uint32_t first_own_tag = 1U << 30;

struct goal_written {
  std::uint64_t operations = 0;
  std::uint64_t iterations = 0;  // whose ends were left out
};

// Gets the ranks written, and their number. Returns false to stop.
using goal_writing_progress = std::function<bool(std::uint64_t done, std::uint64_t all)>;

// Writes the whole file, or none. `asked` starts the error messages. Throws lull::error if the program has operations
// that GOAL does not know, or the file cannot be written.
goal_written write_goal(const program& of, std::uint32_t ranks, const std::string& path, const std::string& asked,
                        const goal_writing_progress& progress = {});

}  // namespace lull::netsim
