// Which route, and buffers of which size: as set, or as what was measured says is cheapest within the memory that is
// set.
//
// The cost of an item that passes s stages, h of them between nodes through buffers of B bytes, which cost `per_buffer`
// and `per_byte` each:
//   s · per_item + h · stride · (per_byte + per_buffer / B)
// B is what the memory allows for the lanes that the route needs. With few nodes one hop wins; with so many that its
// buffers would become small, more hops do.
#pragma once
#include <cstddef>

#include "aggregate/route.hpp"
#include "aggregate/stage.hpp"
#include "fabric/world.hpp"
#include "lull/aggregate.hpp"

namespace lull::aggregate {

// Of a message between nodes, measured once per job; 0 without other nodes.
struct link_costs {
  double ns_per_buffer = 0, ns_per_byte = 0;
};

struct choice {
  scheme how;
  buffer_sizes sizes{};
  double ns_per_item = 0;        // the cost above
  std::size_t memory_bytes = 0;  // on the PE that needs most
  std::size_t chunk_memory = 0;  // besides, for the chunks of all threads of a PE
  bool compress = false;
  bool bypass = false;
  std::int64_t flush_ns = 0;  // 0: no deadline
};

// In a program with threads a quarter of the memory is kept for their chunks.
//
// Collective. `item_bytes` without address; 0: any size. std::invalid_argument for what cannot be.
choice choose(fabric::world& world, const aggregate_options& options, std::size_t item_bytes);
std::size_t memory_allowed(const aggregate_options& options);
link_costs costs_of_links(fabric::world& world);  // collective the first time

// The cost above, in ns.
double cost_of(const link_costs& link, int stages, int between_nodes, std::size_t stride, std::size_t buffer_bytes);

}  // namespace lull::aggregate
