// A file descriptor with an owner, who closes it.
#pragma once
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace lull {

class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int fd) : fd_(fd) {}  // takes it over; negative: none
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
  // Gives it away: the caller closes it.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  // Closes it at once: 0, or errno where what was written has been lost only now, as network file systems say it.
  int close() {
    const int fd = std::exchange(fd_, -1);
    return fd >= 0 && ::close(fd) != 0 ? errno : 0;
  }

 private:
  int fd_ = -1;
};

}  // namespace lull
