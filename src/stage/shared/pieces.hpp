// Pieces of a file: ranges of bytes, as one write call names them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

namespace lull::stage {

struct piece {
  std::int64_t offset;  // bytes from the beginning of the file
  std::int64_t length;  // bytes; > 0
  [[nodiscard]] std::int64_t end() const { return offset + length; }
  friend bool operator==(const piece&, const piece&) = default;
};

// From the first byte of `begin` to before `end`.
struct range {
  std::int64_t begin = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
  [[nodiscard]] bool overlaps(const range& other) const { return begin < other.end && other.begin < end; }
};

// The smallest range that contains all pieces; empty without pieces.
[[nodiscard]] inline range range_of(std::span<const piece> all) {
  range made{std::numeric_limits<std::int64_t>::max(), 0};
  for (const piece& one : all) {
    made.begin = std::min(made.begin, one.offset);
    made.end = std::max(made.end, one.end());
  }
  return made;
}

[[nodiscard]] inline bool ascending(std::span<const piece> all) {
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i - 1].end() > all[i].offset) return false;
  return true;
}

// Whether any byte is in both. Exact for ascending lists; for others, whether their ranges overlap.
[[nodiscard]] inline bool overlap(std::span<const piece> a, std::span<const piece> b) {
  if (!range_of(a).overlaps(range_of(b))) return false;
  if (!ascending(a) || !ascending(b)) return true;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].end() <= b[j].offset)
      ++i;
    else if (b[j].end() <= a[i].offset)
      ++j;
    else
      return true;
  }
  return false;
}

}  // namespace lull::stage
