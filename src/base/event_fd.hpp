// A descriptor that one thread makes readable and another waits for.
#pragma once
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace lull {

[[nodiscard]] inline int open_event_fd() { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }  // -1: see errno

inline void signal_event_fd(int fd) {
  const std::uint64_t one = 1;
  (void)!write(fd, &one, sizeof one);
}

inline void clear_event_fd(int fd) {
  std::uint64_t count = 0;
  (void)!read(fd, &count, sizeof count);
}

}  // namespace lull
