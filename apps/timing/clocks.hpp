// The clocks of this process in seconds, and quantiles of measurements.
#pragma once
#include <time.h>

#include <cmath>
#include <cstddef>
#include <span>

namespace timing {

inline double seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

inline double wall() { return seconds(CLOCK_MONOTONIC); }
inline double cpu() { return seconds(CLOCK_PROCESS_CPUTIME_ID); }

// The nearest value; 0 if there are none.
inline double quantile(std::span<const double> sorted, double q) {
  return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(std::lround(q * static_cast<double>(sorted.size() - 1)))];
}

}  // namespace timing
