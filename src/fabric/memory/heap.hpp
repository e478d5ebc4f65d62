// The allocator of the symmetric heap. It returns offsets; its bookkeeping is in private memory, so a program that
// writes past an allocation cannot corrupt it. First fit in ascending order is deterministic: PEs that make the same
// calls in the same order (as OpenSHMEM requires) get the same offsets without communication.
#pragma once
#include <cstddef>
#include <map>
#include <optional>

namespace lull::fabric {

class heap {
 public:
  explicit heap(std::size_t bytes);

  // Offset of a free block of at least `bytes`. It is a multiple of `alignment`, a power of two of which at least 64 is
  // used, so that neighbouring blocks never share a cache line. Empty if there is no such block.
  [[nodiscard]] std::optional<std::size_t> allocate(std::size_t bytes, std::size_t alignment = 64);
  // Size given to allocate(), rounded up; empty for an offset that is not allocated.
  [[nodiscard]] std::optional<std::size_t> size_of(std::size_t offset) const;
  bool release(std::size_t offset);  // false for an offset that is not allocated
  [[nodiscard]] std::size_t in_use() const { return in_use_; }

 private:
  std::map<std::size_t, std::size_t> free_;  // offset → bytes; neighbours are always merged
  std::map<std::size_t, std::size_t> used_;
  std::size_t in_use_ = 0;
};

}  // namespace lull::fabric
