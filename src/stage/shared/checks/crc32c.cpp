#include "stage/shared/checks/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace lull::stage {
namespace {

constexpr std::uint32_t polynomial = 0x82f63b78U;  // bits reversed

// Of table n: what a byte contributes that n more bytes follow.
using tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr tables made_tables() {
  tables all{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1U) ^ ((sum & 1U) != 0 ? polynomial : 0);
    all[0][byte] = sum;
  }
  for (std::size_t byte = 0; byte < 256; ++byte)
    for (std::size_t n = 1; n < all.size(); ++n)
      all[n][byte] = (all[n - 1][byte] >> 8U) ^ all[0][all[n - 1][byte] & 0xffU];
  return all;
}

constexpr tables by_byte = made_tables();

std::uint64_t eight_bytes(const std::byte* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

std::uint32_t bytewise(std::uint32_t sum, std::span<const std::byte> bytes) {
  for (const std::byte one : bytes) sum = (sum >> 8U) ^ by_byte[0][(sum ^ static_cast<std::uint32_t>(one)) & 0xffU];
  return sum;
}

std::uint32_t tabled(std::uint32_t sum, std::span<const std::byte> bytes) {
  static_assert(std::endian::native == std::endian::little);
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    const std::uint64_t word = eight_bytes(bytes.data()) ^ sum;
    sum = 0;
    for (std::size_t i = 0; i < 8; ++i) sum ^= by_byte[7 - i][(word >> (8 * i)) & 0xffU];
  }
  return bytewise(sum, bytes);
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::uint32_t sum, std::span<const std::byte> bytes) {
  std::uint64_t wide = sum;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) wide = __builtin_ia32_crc32di(wide, eight_bytes(bytes.data()));
  return bytewise(static_cast<std::uint32_t>(wide), bytes);
}
#endif

}  // namespace

std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes) { return ~tabled(~0U, bytes); }

std::uint32_t crc32c(std::span<const std::byte> bytes) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2") != 0) return ~by_instruction(~0U, bytes);
#endif
  return crc32c_by_tables(bytes);
}

}  // namespace lull::stage
