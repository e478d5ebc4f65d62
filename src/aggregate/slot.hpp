// What travels: a slot is a header and items one behind the other.
//
// Items are `stride` bytes each, or, when stride is 0, of any size: a 4-byte length and the bytes. Where a route needs
// it each item begins with the 4-byte number of its PE. Between nodes a slot may be compressed: a byte position that is
// zero in all items of the slot (the high bytes of indices are) does not travel.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace lull::aggregate {

struct slot_header {
  std::uint32_t bytes;   // of the items, as they travel
  std::uint32_t count;   // of the items; the bytes where items have any size
  std::uint64_t kept;    // compressed: bit i says that byte i of each item travels; all ones: not compressed
  std::uint64_t pushed;  // with `last`: what the sender's PE has pushed in this round
  std::uint32_t last;    // nonzero: the lane's last slot before done()
  std::uint32_t reserved;
};
static_assert(sizeof(slot_header) == 32);
constexpr std::uint64_t keeps_all = ~std::uint64_t{0};
constexpr std::size_t most_compressible = 63;  // bytes of an item

struct item_format {
  std::size_t stride = 0;   // of an item with its PE, if it carries that; 0: any size
  bool addressed = false;   // begins with the number of its PE
  bool compressed = false;  // between nodes

  // How many items, or bytes, stand in `bytes`.
  [[nodiscard]] std::size_t count(std::size_t bytes) const { return stride == 0 ? bytes : bytes / stride; }
  [[nodiscard]] std::size_t bytes(std::size_t count) const { return stride == 0 ? count : count * stride; }
  // The bytes of the item at `at`, its address and length included.
  [[nodiscard]] std::size_t size_of(const std::byte* at) const {
    if (stride != 0) return stride;
    const std::size_t head = addressed ? sizeof(std::uint32_t) : 0;
    std::uint32_t length = 0;
    std::memcpy(&length, at + head, sizeof length);
    return head + sizeof length + length;
  }
  // How many of the bytes at `items` are whole items that fit into `room`.
  [[nodiscard]] std::size_t fitting(std::span<const std::byte> items, std::size_t room) const {
    if (items.size() <= room) return items.size();
    if (stride != 0) return room / stride * stride;
    std::size_t bytes = 0;
    while (bytes + size_of(items.data() + bytes) <= room) bytes += size_of(items.data() + bytes);
    return bytes;
  }
};

// A slot that has arrived: what it says, and its items, unpacked into `scratch` if they were packed.
struct arrived_slot {
  slot_header header;
  const std::byte* items;
};
arrived_slot read_slot(const std::byte* slot, std::size_t stride, std::byte* scratch);

// Packs the `count` items at `items` in place; returns the bytes that are left, and what was kept of each.
struct packed {
  std::size_t bytes;
  std::uint64_t kept;
};
packed pack(std::byte* items, std::size_t count, std::size_t stride);
void unpack(std::byte* items, const std::byte* from, std::size_t count, std::size_t stride, std::uint64_t kept);

}  // namespace lull::aggregate
