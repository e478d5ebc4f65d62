// The server of a rank that is set aside: a process of its own, lull-stage-server.
//
// So that its end is not that of a rank, with which MPI's launchers end the whole job; and the other way round, that what
// it was handed is written when the launcher has killed all ranks. It is in a session of its own, where no signal for the
// job reaches it, has nothing of the program in it, and ends when its clients have.
#pragma once
#include <span>
#include <string>

#include "base/descriptor.hpp"
#include "stage/link/exchange.hpp"

namespace lull::stage {

// Collective as serve(), whose result it gives; 0 where the server has been killed: its clients write for themselves then,
// and say what they cannot; or cannot_serve (staging.hpp). Throws lull::error, before anything was exchanged, when it cannot be started.
[[nodiscard]] int serve_in_own_process(exchange& all, std::span<const std::string> nodes_by_rank);

// A process of the same program that keeps the files of this one (kept_files.hpp): a socket to it, or none, after a line.
[[nodiscard]] descriptor start_keeper() noexcept;

}  // namespace lull::stage
