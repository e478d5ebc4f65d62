// The word of a channel between nodes, which its writers advance by compare-and-swap: which buffer is open, and how many bytes
// of it are taken.
//
// Buffers are numbered in 64 bits, as long as a job runs; the word has room for the low 32. With the number of another buffer
// of the channel that is less than 2^31 away, as those that the receiver has consumed are, the whole number is known.
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
