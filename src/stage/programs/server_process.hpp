// The server of a rank that is set aside: a separate process, lull-stage-server.
//
// The end of the server is thus not the end of a rank, at which MPI's launchers end the whole job. Conversely, the
// server still writes what it has received when the launcher has killed all ranks. It is in its own session, which no
// signal for the job reaches, contains nothing of the program, and ends after its clients.
#pragma once
#include <span>
#include <string>

#include "base/descriptor.hpp"
#include "stage/link/exchange.hpp"

namespace lull::stage {

// Collective like serve(), whose result it returns, or cannot_serve (staging.hpp). Returns 0 if the server was killed:
// its clients then write for themselves and report what they cannot. Throws lull::error, before any exchange, if the
// server cannot be started.
[[nodiscard]] int serve_in_own_process(exchange& all, std::span<const std::string> nodes_by_rank);

// Starts a process of the same program that keeps the files of this one (kept_files.hpp). Returns a socket to it;
// empty, after a line, on failure.
[[nodiscard]] descriptor start_keeper() noexcept;

}  // namespace lull::stage
