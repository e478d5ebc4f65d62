// The one clock of Lull: all intervals are differences of CLOCK_MONOTONIC.
#pragma once
#include <time.h>

#include <cstdint>

namespace lull {

// Nanoseconds since an arbitrary point, the same for all processes of one boot of one host.
[[nodiscard]] inline std::int64_t now_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// CPU time used so far by the calling thread, in nanoseconds.
[[nodiscard]] inline std::int64_t thread_cpu_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// CPU time used so far by all threads of this process, in nanoseconds.
[[nodiscard]] inline std::int64_t process_cpu_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace lull
