// Hashes of integers. They are the same in all processes, so that these can compare them.
#pragma once
#include <cstdint>

namespace lull {

// 2^64 divided by the golden ratio, an odd number.
inline constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15U;

// Knuth's multiplicative hashing: the upper bits depend on all bits of the key, the lower ones only on lower ones.
[[nodiscard]] constexpr std::uint64_t spread(std::uint64_t key) noexcept { return key * golden_ratio; }

// Extends a hash by one more value.
[[nodiscard]] constexpr std::uint64_t hash_with(std::uint64_t hash, std::uint64_t value) noexcept {
  const std::uint64_t both = spread(hash ^ value);
  return both ^ both >> 29U;
}

}  // namespace lull
