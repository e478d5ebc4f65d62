// The cheapest clock of a processor: a counter that runs at one rate on all cores, and takes some 10 ns to read without
// a system call. Ticks are converted to time afterwards, with two pairs of (ticks, CLOCK_MONOTONIC) taken far apart.
#pragma once
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#elif !defined(__aarch64__)
#include "base/clock.hpp"
#endif

namespace lull {

[[nodiscard]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return static_cast<std::uint64_t>(now_ns());
#endif
}

// Ticks since `begin`; 0 if the counter is behind it, because the processor may reorder two reads.
[[nodiscard]] inline std::uint64_t ticks_since(std::uint64_t begin) noexcept {
  const auto passed = static_cast<std::int64_t>(ticks() - begin);
  return passed > 0 ? static_cast<std::uint64_t>(passed) : 0;
}

}  // namespace lull
