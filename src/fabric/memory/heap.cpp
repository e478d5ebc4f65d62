#include "fabric/memory/heap.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/pages.hpp"

namespace lull::fabric {
namespace {

constexpr std::size_t line = 64;

}  // namespace

heap::heap(std::size_t bytes) : free_{{0, bytes}} {}

std::optional<std::size_t> heap::allocate(std::size_t bytes, std::size_t alignment) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) return std::nullopt;
  alignment = std::max(alignment, line);
  bytes = round_up(std::max(bytes, std::size_t{1}), line);
  for (const auto& block : free_) {
    const std::size_t offset = block.first, size = block.second;  // copies: the block is erased below
    const std::size_t start = round_up(offset, alignment);
    if (start + bytes > offset + size) continue;
    free_.erase(offset);
    if (start > offset) free_[offset] = start - offset;
    if (offset + size > start + bytes) free_[start + bytes] = offset + size - (start + bytes);
    used_[start] = bytes;
    in_use_ += bytes;
    return start;
  }
  return std::nullopt;
}

std::optional<std::size_t> heap::size_of(std::size_t offset) const {
  const auto found = used_.find(offset);
  return found == used_.end() ? std::nullopt : std::optional{found->second};
}

bool heap::release(std::size_t offset) {
  const auto found = used_.find(offset);
  if (found == used_.end()) return false;
  in_use_ -= found->second;
  auto block = free_.emplace(offset, found->second).first;
  used_.erase(found);
  if (const auto next = std::next(block); next != free_.end() && block->first + block->second == next->first) {
    block->second += next->second;
    free_.erase(next);
  }
  if (block != free_.begin()) {
    if (const auto before = std::prev(block); before->first + before->second == block->first) {
      before->second += block->second;
      free_.erase(block);
    }
  }
  return true;
}

}  // namespace lull::fabric
