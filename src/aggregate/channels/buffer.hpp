// Buffers, the unit that travels: a header and items, which lull/detail/items.hpp writes and reads.
//
// A buffer between nodes may be compressed: a byte position that is zero in all its items (such as the high bytes of
// indices) does not travel.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace lull::aggregate {

struct buffer_header {
  std::uint32_t bytes;   // of the items, as they travel
  std::uint32_t count;   // of the items; their bytes for items of any size
  std::uint64_t kept;    // compressed: bit i says that byte i of each item travels; all ones: not compressed
  std::uint64_t pushed;  // if `last`: items that the sender's PE has pushed in this phase
  std::uint32_t last;    // nonzero: the channel's last buffer before done()
  std::uint32_t reserved;
};
static_assert(sizeof(buffer_header) == 32);
constexpr std::uint64_t keeps_all = ~std::uint64_t{0};
constexpr std::size_t most_compressible = 63;  // bytes of an item

// A buffer that has arrived: its header, and its items, unpacked into `scratch` if they were packed.
struct arrived_buffer {
  buffer_header header;
  const std::byte* items;
};
bool is_packed(const std::byte* buffer);
arrived_buffer read_buffer(const std::byte* buffer, std::size_t stride, std::byte* scratch);

// Memory for unpacking: one piece per buffer being unpacked at the same time.
class unpacking_memory {
 public:
  explicit unpacking_memory(std::size_t bytes) : bytes_(bytes) {}  // per piece

  class lease {
   public:
    explicit lease(unpacking_memory& of) : of_(of), memory_(of.take()) {}
    ~lease() { of_.give_back(std::move(memory_)); }
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    [[nodiscard]] std::byte* memory() { return memory_.data(); }

   private:
    unpacking_memory& of_;
    std::vector<std::byte> memory_;
  };

 private:
  using piece = std::vector<std::byte>;
  piece take();
  void give_back(piece&& one);

  std::size_t bytes_;
  std::mutex lock_;
  std::vector<piece> free_;
};

// Packs the `count` items at `items` in place. Returns the remaining bytes, and the mask of the positions kept.
struct packed {
  std::size_t bytes;
  std::uint64_t kept;
};
packed pack(std::byte* items, std::size_t count, std::size_t stride);
void unpack(std::byte* items, const std::byte* from, std::size_t count, std::size_t stride, std::uint64_t kept);

}  // namespace lull::aggregate
