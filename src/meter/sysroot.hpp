// The machine as the meter sees it: its files, below a root that tests can replace, with faults that tests can inject
// (root can read a file of mode 0400, so tests that run as root need this for missing permissions), and its clock,
// which tests can step.
//
// Paths are absolute, as on a real system ("/sys/class/net"); only this class prepends the root.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"

namespace lull::meter {

class sysroot {
 public:
  // Called with the path before a file is opened or read; a result other than 0 is the errno with which that fails.
  using fault = std::function<int(std::string_view path)>;

  using clock = std::function<std::int64_t()>;  // CLOCK_MONOTONIC in nanoseconds

  explicit sysroot(std::string root = "/", fault inject = {}, clock now = {});

  // Whether the root is this machine's own: libraries and system calls describe no other machine.
  [[nodiscard]] bool is_this_machine() const { return root_.empty(); }
  [[nodiscard]] std::int64_t now() const;

  [[nodiscard]] std::string locate(std::string_view path) const;
  [[nodiscard]] bool exists(std::string_view path) const;
  // Names in a folder, sorted; empty if there is no such folder.
  [[nodiscard]] std::vector<std::string> list(std::string_view path) const;
  // A small file without the surrounding white space; empty if it cannot be read.
  [[nodiscard]] std::string text(std::string_view path) const;
  [[nodiscard]] int injected_fault(std::string_view path) const { return inject_ ? inject_(path) : 0; }

 private:
  std::string root_;
  fault inject_;
  clock now_;
};

// The result of reading: an errno, or 0 and a number.
struct number_read {
  std::uint64_t number = 0;
  int error = 0;
};

// A file that is read repeatedly: it is kept open and read with pread, which takes 2 us instead of 28 us for opening,
// reading and closing. After a failure the next reading opens it again, because its driver may have been reloaded. Not
// thread-safe.
class held_file {
 public:
  held_file(sysroot root, std::string path) : root_(std::move(root)), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  // Fills the buffer from the beginning of the file; `filled` is the part that was read, empty after an error.
  struct bytes_read {
    std::string_view filled;
    int error = 0;
  };
  [[nodiscard]] bytes_read read(std::span<char> buffer);
  // The file as one integer; EBADMSG if it contains something else.
  [[nodiscard]] number_read read_number();

 private:
  sysroot root_;
  std::string path_;
  descriptor file_;
};

}  // namespace lull::meter
