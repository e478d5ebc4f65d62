// The machine as the meter sees it: its files, below a root that tests can move, with faults that tests can inject
// (root may read a file of mode 0400, so permissions alone cannot be tested by root), and its clock, which tests can
// step.
//
// Paths are absolute, as on a real system ("/sys/class/net"); the root is put before them here and nowhere else.
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
  // Asked with the path before every opening and reading of a file; anything but 0 is the errno it then fails with.
  using fault = std::function<int(std::string_view path)>;

  using clock = std::function<std::int64_t()>;  // CLOCK_MONOTONIC in nanoseconds

  explicit sysroot(std::string root = "/", fault inject = {}, clock now = {});

  // Whether the root is this machine's own: libraries and system calls answer for no other.
  [[nodiscard]] bool is_this_machine() const { return root_.empty(); }
  [[nodiscard]] std::int64_t now() const;

  [[nodiscard]] std::string locate(std::string_view path) const;
  [[nodiscard]] bool exists(std::string_view path) const;
  // Names in a folder, sorted; empty when there is no such folder.
  [[nodiscard]] std::vector<std::string> list(std::string_view path) const;
  // A whole small file without the white space around it; empty when it cannot be read.
  [[nodiscard]] std::string text(std::string_view path) const;
  [[nodiscard]] int injected_fault(std::string_view path) const { return inject_ ? inject_(path) : 0; }

 private:
  std::string root_;
  fault inject_;
  clock now_;
};

// What reading gave: an errno, or 0 and the result.
struct number_read {
  std::uint64_t number = 0;
  int error = 0;
};

// A file that is read over and over: it is held open and read with pread, which takes 2 us where opening, reading and
// closing takes 28 us. After a failure it is opened anew at the next reading, because the file may belong to a driver
// that has been loaded again. Not thread-safe.
class held_file {
 public:
  held_file(sysroot root, std::string path) : root_(std::move(root)), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  // Fills the buffer from the beginning of the file; `filled` is what was read, empty after an error.
  struct bytes_read {
    std::string_view filled;
    int error = 0;
  };
  [[nodiscard]] bytes_read read(std::span<char> buffer);
  // The file as one whole number; EBADMSG when it is something else.
  [[nodiscard]] number_read read_number();

 private:
  sysroot root_;
  std::string path_;
  descriptor file_;
};

}  // namespace lull::meter
