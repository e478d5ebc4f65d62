// A descriptor that one thread makes readable and another waits for.
#pragma once
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/descriptor.hpp"

namespace lull {

// None: see errno.
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
