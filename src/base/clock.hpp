// The one clock of Lull. All intervals are differences of CLOCK_MONOTONIC; a wall-clock anchor, taken once per
// process, turns them into dates where a record of several hosts must be merged.
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

// Nanoseconds since 1970 minus now_ns(): add it to a now_ns() stamp to get a date.
[[nodiscard]] inline std::int64_t realtime_anchor_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec - now_ns();
}

// CPU time used so far by all threads of this process, in nanoseconds.
[[nodiscard]] inline std::int64_t process_cpu_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace lull
