// What message aggregation costs, and which route and buffers cost least: pure functions of the machine's constants.
//
// An item of b bytes that makes s hops, h of them between nodes in buffers of B bytes, g into buffers that PEs of a node fill
// together, costs
//   ns_per_item + (s - 1) · ns_per_item_passed_on + g · ns_per_item_of_shared_buffer + h · b · (ns_per_byte + ns_per_message / B)
// B is what the memory allows for the channels that the route needs. With few nodes one hop costs least; with so many
// that its buffers would become small, more hops do.
//
// A phase costs, besides its items, what ends it: hop after hop is closed, and each channel between nodes sends a last buffer,
//   hops · ns_per_empty_phase + 4 · (m + 1) · ns_per_message
// for m such messages that a core has to do with, and one of another core that it waits for: measured, with 4 PEs on 2 nodes, in
// which m is 4, 2 and 1, such phases take 129, 56 to 73, and 53 µs. In short phases the route with the fewest channels costs least.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "model/machine/machine.hpp"

namespace lull::model {

struct buffer_sizes {
  std::size_t intra_node_bytes = 0, inter_node_bytes = 0;  // of one buffer
  std::size_t per_channel = 0;                             // buffers
};

// What the hops of a route allocate on the PE that needs most.
struct buffer_demand {
  std::size_t intra_node_channels = 0, inter_node_channels = 0;  // whose buffers it holds
  std::size_t fixed_bytes = 0;                                   // whatever the buffers' sizes
  [[nodiscard]] std::size_t memory(const buffer_sizes& sizes) const {
    return sizes.per_channel *
               (intra_node_channels * sizes.intra_node_bytes + inter_node_channels * sizes.inter_node_bytes) +
           fixed_bytes;
  }
};

// A candidate.
struct item_route {
  int hops, inter_node_hops;
  std::size_t item_bytes;  // as an item travels
  buffer_demand demand;
  double last_messages = 0;  // to other nodes, for each core, that end a phase
  int shared_hops = 0;       // into buffers that PEs of a node fill together
};

// The costs above, in ns.
[[nodiscard]] double ns_per_item(const machine& on, const item_route& way, std::size_t inter_node_buffer_bytes);
[[nodiscard]] double ns_per_phase(const machine& on, const item_route& way);

struct buffer_limits {
  std::size_t memory_bytes;     // of all buffers of a PE
  std::size_t least_bytes;      // of a buffer that holds one item
  std::size_t per_channel;      // buffers, unless memory is short
  std::size_t set_bytes = 0;    // of a buffer, where that is not for choose() to find; 0: it is
  std::size_t pes_of_node = 1;  // of the node that has most: each of its buffers is open at a time
  bool any_size = false;        // items have no one size
};

struct buffered_route {
  std::size_t route;  // among the candidates
  buffer_sizes sizes;
  double ns_per_item, ns_per_phase;
  std::size_t memory_bytes;
  // A phase in which the PE that has most has so many.
  [[nodiscard]] double ns_of(double items) const { return ns_per_phase + items * ns_per_item; }
};

// The candidate that costs least in phases of many items, the first of equals, with its buffers as large as they are worth and
// memory allows; nothing when none of them fits into the memory.
[[nodiscard]] std::optional<buffered_route> choose(const machine& on, std::span<const item_route> candidates,
                                                   const buffer_limits& limits);

// For each of so many channels within the node, of items on their way to its buffers; 0: that is not worth it, for there is no
// room, or items have a cache line or more each, or any size (0).
[[nodiscard]] std::size_t stage_bytes(const machine& on, const buffer_limits& limits, const buffered_route& found,
                                      std::size_t channels, std::size_t item_bytes);

// The direct path: phases of so few items that each is better made without a buffer.
struct direct_path_costs {
  double empty_phase_ns, barrier_ns;  // a phase through buffers ends with more than the barrier of a direct one
  double ns_per_direct_item;
  double pes_per_core = 1;  // at least 1: PEs that outnumber cores issue theirs in turn
};
// As the machine's constants have it, for so many PEs of which so many share this node; `gets`: an item is a get. Messages between nodes
// cost what the link says: one is on the way of an operation, two of a get and of a barrier. `empty_phase_ns`: of the route.
[[nodiscard]] direct_path_costs predicted_direct_path(const machine& on, int pes, int pes_of_node, bool gets,
                                                      double empty_phase_ns);
// A phase of so many items of a PE.
[[nodiscard]] double ns_of_direct_phase(const direct_path_costs& costs, double items);
[[nodiscard]] double ns_of_buffered_phase(const direct_path_costs& costs, double items, double ns_per_buffered_item);
inline constexpr std::uint64_t any_number_of_items = std::uint64_t{1} << 62U;

// How many items of a PE cost as much directly as the buffers of a phase do; 0: not even one does.
[[nodiscard]] std::uint64_t break_even_items(const direct_path_costs& costs, double ns_per_buffered_item);

}  // namespace lull::model
