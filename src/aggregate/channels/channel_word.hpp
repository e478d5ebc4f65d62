// The word of a channel between nodes: the open buffer, and how many of its bytes are reserved. Writers advance it by
// compare-and-swap.
//
// Buffers have 64-bit numbers, which last for the life of a job; the word holds the low 32 bits. The full number
// follows from the number of any buffer of the channel that is less than 2^31 away, such as the last one consumed.
#pragma once
#include <cstdint>

namespace lull::aggregate {

[[nodiscard]] constexpr std::uint64_t channel_word(std::uint64_t buffer, std::uint64_t bytes) {
  return buffer << 32U | bytes;
}
[[nodiscard]] constexpr std::uint64_t bytes_in(std::uint64_t word) { return word & 0xffffffffU; }
[[nodiscard]] constexpr std::uint64_t buffer_in(std::uint64_t word, std::uint64_t near) {
  const auto apart =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(word >> 32U) - static_cast<std::uint32_t>(near));
  return near + static_cast<std::uint64_t>(std::int64_t{apart});
}

}  // namespace lull::aggregate
