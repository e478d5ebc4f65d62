// Which route, and buffers of which size: as set, or as what was measured says is cheapest within the memory that is
// set.
//
// The cost of an item that travels h hops through buffers of B bytes, each of which costs `per_buffer` and `per_byte`:
//   h · (per_item + stride · per_byte) + h · per_buffer · stride / B
// B is what the memory allows for the lanes that h hops need. With few nodes one hop wins; with so many that its
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
  std::size_t memory_bytes = 0;  // on the PE that needs most
  bool compress = false;
  bool bypass = false;
  std::int64_t flush_ns = 0;  // 0: no deadline
};

// Collective. `item_bytes` without address; 0: any size. std::invalid_argument for what cannot be.
choice choose(fabric::world& world, const aggregate_options& options, std::size_t item_bytes);
link_costs costs_of_links(fabric::world& world);  // collective the first time

// Pure, for tests: the cost above in ns, and the size of buffers to other nodes that the memory allows.
double cost_of(const link_costs& link, int hops, std::size_t stride, std::size_t buffer_bytes);

}  // namespace lull::aggregate
