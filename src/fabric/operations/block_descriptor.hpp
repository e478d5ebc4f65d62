// The places of a non-contiguous block of memory: equal blocks at regular distances, on up to 8 levels, as in ARMCI and
// in multi-dimensional arrays.
//
// counts[0] is the length of a block in bytes. For l ≥ 1, counts[l] is the number of repetitions of the level below,
// strides[l - 1] bytes apart. Blocks are numbered in the order of their indices, the lowest level fastest.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lull::fabric {

struct block_descriptor {
  static constexpr int most_levels = 8;
  std::uint32_t levels = 0;  // number of strides; 0: one contiguous block
  std::array<std::uint64_t, most_levels + 1> counts{};
  std::array<std::int64_t, most_levels> strides{};

  [[nodiscard]] std::size_t block_bytes() const { return counts[0]; }
  [[nodiscard]] std::size_t blocks() const {
    std::size_t product = 1;
    for (std::uint32_t level = 1; level <= levels; ++level) product *= counts[level];
    return product;
  }
  [[nodiscard]] std::size_t bytes() const { return block_bytes() * blocks(); }

  // Calls visit(offset in bytes) for `count` blocks, beginning with block `first`.
  template <class Visit>
  void for_blocks(std::size_t first, std::size_t count, Visit&& visit) const {
    std::array<std::uint64_t, most_levels + 1> index{};
    std::int64_t offset = 0;
    for (std::uint32_t level = 1; level <= levels; ++level) {
      index[level] = first % counts[level];
      first /= counts[level];
      offset += static_cast<std::int64_t>(index[level]) * strides[level - 1];
    }
    while (count-- != 0) {
      visit(offset);
      for (std::uint32_t level = 1; level <= levels; ++level) {
        offset += strides[level - 1];
        if (++index[level] < counts[level]) break;
        offset -= static_cast<std::int64_t>(counts[level]) * strides[level - 1];
        index[level] = 0;
      }
    }
  }

  // The lowest byte and one past the highest byte of all blocks, relative to the address of the first.
  struct extent {
    std::int64_t low, high;
  };
  [[nodiscard]] extent reach() const {
    extent range{0, static_cast<std::int64_t>(counts[0])};
    for (std::uint32_t level = 1; level <= levels; ++level) {
      const std::int64_t last = (static_cast<std::int64_t>(counts[level]) - 1) * strides[level - 1];
      (last < 0 ? range.low : range.high) += last;
    }
    return range;
  }

  void gather(void* packed, const void* from, std::size_t first, std::size_t count) const {
    auto* to = static_cast<std::byte*>(packed);
    for_blocks(first, count, [&](std::int64_t offset) {
      std::memcpy(to, static_cast<const std::byte*>(from) + offset, block_bytes());
      to += block_bytes();
    });
  }
  void scatter(void* into, const void* packed, std::size_t first, std::size_t count) const {
    const auto* from = static_cast<const std::byte*>(packed);
    for_blocks(first, count, [&](std::int64_t offset) {
      std::memcpy(static_cast<std::byte*>(into) + offset, from, block_bytes());
      from += block_bytes();
    });
  }
};

}  // namespace lull::fabric
