// Runs a user's command line, for meters that only a tool can read, and never waits longer than its time-out.
//
// The shell and its children form a separate process group. After the time-out, or if the caller has to stop, the whole
// group is killed. Output beyond a mebibyte is not read.
#pragma once
#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

namespace lull::meter {

struct command_result {
  std::string output;   // what it wrote to its standard output
  std::string failure;  // empty if it exited with 0; otherwise one line: its first line of error output, time-out,
                        // signal
};

// Its environment is copied at construction, because another thread may change the process's environment while it runs.
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
