// Runs a command line of the user's, for meters that only a tool can ask, and never waits longer than told.
//
// The shell and all it starts form a process group of their own; when the time is over, or the caller has to stop, the
// whole group is killed. Output beyond a mebibyte is not read.
#pragma once
#include <chrono>
#include <stop_token>
#include <string>

namespace lull::meter {

struct command_result {
  std::string output;   // what it wrote to its standard output
  std::string failure;  // empty when it ended with 0; else one line: its first line of complaint, time-out, signal
};

[[nodiscard]] command_result run_command(const std::string& line, std::chrono::milliseconds longest,
                                         const std::stop_token& stop = {});

}  // namespace lull::meter
