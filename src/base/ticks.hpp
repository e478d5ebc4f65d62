// The cheapest clock of a processor: a counter that runs at one rate on all cores, read in some 10 ns without a system
// call. Ticks are turned into time afterwards, by two pairs of (ticks, CLOCK_MONOTONIC) taken far apart.
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

// Since `begin`; 0 where the counter is behind it, as two reads that the processor has swapped may have it.
[[nodiscard]] inline std::uint64_t ticks_since(std::uint64_t begin) noexcept {
  const auto passed = static_cast<std::int64_t>(ticks() - begin);
  return passed > 0 ? static_cast<std::uint64_t>(passed) : 0;
}

}  // namespace lull
