#include "aggregate/channels/buffer.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace lull::aggregate {
namespace {

struct columns {
  std::array<std::uint8_t, most_compressible> at{};
  std::size_t count = 0;
};

columns columns_of(std::uint64_t kept) {
  columns c;
  for (; kept != 0; kept &= kept - 1) c.at[c.count++] = static_cast<std::uint8_t>(std::countr_zero(kept));
  return c;
}

}  // namespace

bool is_packed(const std::byte* buffer) {
  buffer_header header;
  std::memcpy(&header, buffer, sizeof header);
  return header.kept != keeps_all;
}

arrived_buffer read_buffer(const std::byte* buffer, std::size_t stride, std::byte* scratch) {
  arrived_buffer read{{}, buffer + sizeof(buffer_header)};
  std::memcpy(&read.header, buffer, sizeof read.header);
  if (read.header.kept == keeps_all) return read;
  unpack(scratch, read.items, read.header.count, stride, read.header.kept);
  read.items = scratch;
  return read;
}

unpacking_memory::piece unpacking_memory::take() {
  const std::lock_guard hold(lock_);
  if (free_.empty()) return piece(bytes_);
  piece one = std::move(free_.back());
  free_.pop_back();
  return one;
}

void unpacking_memory::give_back(piece&& one) {
  const std::lock_guard hold(lock_);
  free_.push_back(std::move(one));
}

packed pack(std::byte* items, std::size_t count, std::size_t stride) {
  if (stride == 0 || stride > most_compressible) return {count * (stride == 0 ? 1 : stride), keeps_all};
  std::array<std::byte, most_compressible> any{};
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t b = 0; b < stride; ++b) any[b] |= items[i * stride + b];
  std::uint64_t kept = 0;
  for (std::size_t b = 0; b < stride; ++b)
    if (any[b] != std::byte{0}) kept |= std::uint64_t{1} << b;
  const columns keep = columns_of(kept);
  if (keep.count == stride) return {count * stride, keeps_all};
  std::byte* to = items;  // never overtakes the read position
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t c = 0; c < keep.count; ++c) *to++ = items[i * stride + keep.at[c]];
  return {count * keep.count, kept};
}

void unpack(std::byte* items, const std::byte* from, std::size_t count, std::size_t stride, std::uint64_t kept) {
  const columns keep = columns_of(kept);
  std::memset(items, 0, count * stride);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t c = 0; c < keep.count; ++c) items[i * stride + keep.at[c]] = *from++;
}

}  // namespace lull::aggregate
