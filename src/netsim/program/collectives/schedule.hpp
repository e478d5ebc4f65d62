// Shared by the schedules of collectives: pieces of a vector, the tree over a power of two, distinct tags.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <initializer_list>

#include "netsim/program/collective.hpp"

namespace lull::netsim {

// A schedule that follows another one, which may send between the same processes: its tags differ from the other's.
[[nodiscard]] stream with_tags_apart(stream schedule);

// Bytes of the pieces first..last (last excluded) of a vector that is cut into `count` pieces, as equal as possible.
[[nodiscard]] constexpr std::uint64_t pieces(std::uint64_t bytes, std::uint32_t count, std::uint32_t first,
                                             std::uint32_t last) {
  const auto begin_of = [&](std::uint64_t piece) { return bytes / count * piece + bytes % count * piece / count; };
  return first < last ? begin_of(last) - begin_of(first) : 0;
}

// A group whose size is no power of two is folded: the ranks from `core` on send their data to the rank `core` below,
// the ranks below `core` do the work, and send the result back.
struct folded {
  explicit folded(std::uint32_t size) : core(std::bit_floor(size)), extra(size - core) {}
  std::uint32_t core;   // the largest power of two
  std::uint32_t extra;  // ranks from `core` on
};

// Ranks relative to the root.
struct rooted {
  explicit rooted(const collective_call& c) : size(c.size), root(c.root), rank((c.rank + c.size - c.root) % c.size) {}
  [[nodiscard]] std::uint32_t real(std::uint32_t from_root) const { return (from_root + root) % size; }
  std::uint32_t size, root;
  std::uint32_t rank;  // of this process
  // In the binomial tree, the subtree of a rank is rank .. rank + span - 1; its parent is rank - span.
  [[nodiscard]] std::uint32_t span() const { return rank == 0 ? std::bit_ceil(size) : rank & (~rank + 1); }
  [[nodiscard]] std::uint32_t end(std::uint32_t of, std::uint32_t wide) const { return std::min(of + wide, size); }
};

// Schedules that other families use, too.
[[nodiscard]] stream tree_broadcast(collective_call c);
[[nodiscard]] stream tree_reduce(collective_call c);

}  // namespace lull::netsim
