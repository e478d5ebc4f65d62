// A file descriptor that its owner closes; pairs of descriptors, and descriptors that one thread makes readable and
// another waits for.
#pragma once
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace lull {

class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int fd) : fd_(fd) {}  // takes ownership; negative: none
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  // Gives up ownership: the caller closes it.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  // Closes it at once; returns 0, or errno if written data is lost only now, as network file systems report it.
  int close() {
    const int fd = std::exchange(fd_, -1);
    return fd >= 0 && ::close(fd) != 0 ? errno : 0;
  }

 private:
  int fd_ = -1;
};

// Both are empty if none are available; see errno. Children do not inherit them.
struct descriptor_pair {
  descriptor first, second;
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(first); }
};

// Connected sockets; `type` is SOCK_STREAM, or another of socket(2).
[[nodiscard]] inline descriptor_pair open_socket_pair(int type) {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) return {};
  return {descriptor(ends[0]), descriptor(ends[1])};
}

// Data written to the second is read from the first.
[[nodiscard]] inline descriptor_pair open_pipe() {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  return {descriptor(ends[0]), descriptor(ends[1])};
}

// Empty on failure; see errno.
[[nodiscard]] inline descriptor open_event_fd() { return descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

inline void signal_event_fd(int fd) {
  const std::uint64_t one = 1;
  (void)!write(fd, &one, sizeof one);
}

inline void clear_event_fd(int fd) {
  std::uint64_t count = 0;
  (void)!read(fd, &count, sizeof count);
}

}  // namespace lull
