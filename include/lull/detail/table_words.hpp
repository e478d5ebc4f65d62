// The requests of lull::table_reader and their handler.
#pragma once
#include <shmem.h>

#include <lull/aggregate_options.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lull {
inline namespace cpp_abi_1 {
namespace detail {

// Consecutive words of the table of a PE, of at most largest_line bytes.
struct word_range {
  static constexpr unsigned shift = 48;
  std::uint64_t bits;
  static word_range from(std::uint64_t first, std::uint64_t count) { return {count << shift | first}; }
  [[nodiscard]] std::uint64_t first() const { return bits & ((std::uint64_t{1} << shift) - 1); }
  [[nodiscard]] std::uint64_t count() const { return bits >> shift; }
};

struct words_of_table {
  const std::byte* table;
  std::size_t word_bytes;
  std::vector<std::byte> copy;  // of a line

  byte_span operator()(const word_range& words) const {
    return {table + words.first() * word_bytes, words.count() * word_bytes};
  }
  byte_span direct(const word_range& words, int pe) {
    shmem_getmem(copy.data(), table + words.first() * word_bytes, words.count() * word_bytes, pe);
    return {copy.data(), words.count() * word_bytes};
  }
};

}  // namespace detail
}  // namespace cpp_abi_1
}  // namespace lull
