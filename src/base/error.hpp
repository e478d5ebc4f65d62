// Errors on which a user can act: what was attempted, what was found, and what to do, in one line.
#pragma once
#include <stdexcept>
#include <string>

namespace lull {

class error : public std::runtime_error {
 public:
  // "action: found; fix", e.g. error("read setting LULL_NODES", "'two' is not a whole number", "set it to 1 or
  // more").
  error(const std::string& action, const std::string& found, const std::string& fix = {});
  // The complete line of an error of another process.
  explicit error(const std::string& line) : std::runtime_error(line) {}
};

// A mistake in how the program was called or configured, which every PE of a job finds as well.
class usage_error : public error {
 public:
  using error::error;
};

// "cannot open /x: Permission denied": an operation with the text of its errno `code`.
[[nodiscard]] std::string describe_errno(int code);

}  // namespace lull
