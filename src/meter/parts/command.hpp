// Runs a command line of the user's, for meters that only a tool can ask, and never waits longer than told.
//
// The shell and all it starts form a process group of their own; when the time is over, or the caller has to stop, the
// whole group is killed. Output beyond a mebibyte is not read.
#pragma once
#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

namespace lull::meter {

struct command_result {
  std::string output;   // what it wrote to its standard output
  std::string failure;  // empty when it ended with 0; else one line: its first line of complaint, time-out, signal
};

// Its environment is that of the process when it was made: another thread may change the process's own while it runs.
class command {
 public:
  explicit command(std::string line);
  [[nodiscard]] const std::string& line() const { return line_; }
  [[nodiscard]] command_result run(std::chrono::milliseconds longest, const std::stop_token& stop = {}) const;

 private:
  std::string line_;
  std::vector<std::string> environment_;
};

}  // namespace lull::meter
