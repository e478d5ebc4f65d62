// Collective operations over a team. Buffers are symmetric; sizes are in bytes, the same on all members unless stated
// otherwise. On return `target` is complete and `source` may be reused on this PE.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fabric/teams/team.hpp"

namespace lull::fabric {

// into[i] = into[i] ∘ from[i] for `count` elements. Elements are combined in the order of the team within a node, and
// of the tree between nodes: the same calls give the same bits.
using combine_elements = void (*)(void* into, const void* from, std::size_t count);

void broadcast(team& t, void* target, const void* source, std::size_t bytes, int root);
// Concatenates the blocks in the team's order. In gather_varying each member passes its own size.
void gather_all(team& t, void* target, const void* source, std::size_t bytes);
void gather_varying(team& t, void* target, const void* source, std::size_t bytes);
// Block j of this member's source becomes block i of member j's target, where i is this member. Elements of a block are
// `target_stride` and `source_stride` elements apart.
struct exchange_layout {
  std::size_t element_bytes, elements;
  std::ptrdiff_t target_stride = 1, source_stride = 1;
};
void all_to_all(team& t, void* target, const void* source, const exchange_layout& how);
// target and source must be the same or disjoint.
void reduce(team& t, void* target, const void* source, std::size_t count, std::size_t element_bytes,
            combine_elements combine, std::uint64_t kind);

// The sum of the sources of all members up to this one, or before this one: 0 at the first. As for reduce, the same calls
// give the same bits; elements are added in the order of the team, grouped by nodes.
struct scan_elements {
  std::size_t element_bytes;
  combine_elements combine;
  std::uint64_t kind;  // of the operation: the same on all members
  bool inclusive;
};
void scan(team& t, void* target, const void* source, std::size_t count, const scan_elements& how);

}  // namespace lull::fabric
