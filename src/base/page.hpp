// Pages of memory: 4 KiB on most machines, 16 or 64 KiB on others. What is mapped begins and ends with a page.
#pragma once
#include <unistd.h>

#include <cstddef>

namespace lull {

// Bytes of a page on this machine; a power of two.
[[nodiscard]] inline std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// The next multiple of `step`, a power of two, that is not below (round_up) or not above (round_down) `value`.
[[nodiscard]] constexpr std::size_t round_up(std::size_t value, std::size_t step) {
  return (value + step - 1) & ~(step - 1);
}
[[nodiscard]] constexpr std::size_t round_down(std::size_t value, std::size_t step) { return value & ~(step - 1); }

}  // namespace lull
