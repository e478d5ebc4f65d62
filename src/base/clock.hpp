// The clock of Lull: all intervals are differences of CLOCK_MONOTONIC, in nanoseconds. System calls use timespec.
#pragma once
#include <time.h>

#include <cstdint>

namespace lull {

// A span of at least 0 ns.
[[nodiscard]] constexpr timespec timespec_of(std::int64_t ns) noexcept {
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}
[[nodiscard]] constexpr std::int64_t ns_of(const timespec& t) noexcept {
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// The time of one of the system's clocks.
[[nodiscard]] inline std::int64_t ns_on(clockid_t clock) noexcept {
  timespec t;
  clock_gettime(clock, &t);
  return ns_of(t);
}

// Nanoseconds since an arbitrary point, the same for all processes of one boot of one host.
[[nodiscard]] inline std::int64_t now_ns() noexcept { return ns_on(CLOCK_MONOTONIC); }

// CPU time used so far by the calling thread, in nanoseconds.
[[nodiscard]] inline std::int64_t thread_cpu_ns() noexcept { return ns_on(CLOCK_THREAD_CPUTIME_ID); }

// CPU time used so far by all threads of this process, in nanoseconds.
[[nodiscard]] inline std::int64_t process_cpu_ns() noexcept { return ns_on(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace lull
