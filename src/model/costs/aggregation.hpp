// The costs of message aggregation, and the route and buffers with the lowest cost: pure functions of the machine's
// constants.
//
// An item of b bytes that makes s hops, h of them between nodes in buffers of B bytes, g into buffers that the PEs of a
// node share, costs
//   ns_per_item + (s - 1) · ns_per_item_passed_on + g · ns_per_item_of_shared_buffer
//   + h · b · (ns_per_byte + ns_per_message / B)
// B is limited by the memory and the number of channels that the route needs. With few nodes one hop costs least; with
// so many nodes that its buffers would become small, routes with more hops do.
//
// A phase also costs its end: it closes hop after hop, and each channel between nodes sends a last buffer,
//   hops · ns_per_empty_phase + 4 · (m + 1) · ns_per_message
// for the m such messages that a core handles, and one of another core for which it waits. Measured with 4 PEs on 2
// nodes, where m is 4, 2 and 1, such phases take 129, 56 to 73, and 53 µs. In short phases, the route with the fewest
// channels costs least.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "model/machine/machine.hpp"

namespace lull::model {

struct buffer_sizes {
  std::size_t intra_node_bytes = 0, inter_node_bytes = 0;  // of one buffer
  std::size_t per_channel = 0;                             // number of buffers
};

// The memory of the hops of a route, on the PE that needs most.
struct buffer_demand {
  std::size_t intra_node_channels = 0, inter_node_channels = 0;  // whose buffers the PE allocates
  std::size_t fixed_bytes = 0;                                   // independent of the buffers' sizes
  [[nodiscard]] std::size_t memory(const buffer_sizes& sizes) const {
    return sizes.per_channel *
               (intra_node_channels * sizes.intra_node_bytes + inter_node_channels * sizes.inter_node_bytes) +
           fixed_bytes;
  }
};

// A candidate route.
struct item_route {
  int hops, inter_node_hops;
  std::size_t item_bytes;  // as an item travels
  buffer_demand demand;
  double last_messages = 0;  // to other nodes at the end of a phase, per core
  int shared_hops = 0;       // hops into buffers that the PEs of a node share
};

// The costs defined above, in ns.
[[nodiscard]] double ns_per_item(const machine& on, const item_route& way, std::size_t inter_node_buffer_bytes);
[[nodiscard]] double ns_per_phase(const machine& on, const item_route& way);

struct buffer_limits {
  std::size_t memory_bytes;     // for all buffers of a PE
  std::size_t least_bytes;      // for a buffer that holds one item
  std::size_t per_channel;      // number of buffers, unless memory is short
  std::size_t set_bytes = 0;    // of a buffer, if it is set; 0: choose() determines it
  std::size_t pes_of_node = 1;  // of the largest node: each of its buffers is open at a time
  bool any_size = false;        // items differ in size
};

struct buffered_route {
  std::size_t route;  // index of the candidate
  buffer_sizes sizes;
  double ns_per_item, ns_per_phase;
  std::size_t memory_bytes;
  // The cost of a phase in which the PE with the most items has this number of them.
  [[nodiscard]] double ns_of(double items) const { return ns_per_phase + items * ns_per_item; }
};

// The candidate with the lowest cost in phases of many items (the first of equals), with buffers as large as is
// worthwhile and the memory allows; none if no candidate fits into the memory.
[[nodiscard]] std::optional<buffered_route> choose(const machine& on, std::span<const item_route> candidates,
                                                   const buffer_limits& limits);

// Bytes of a staging area for each of this number of channels within the node, for items on their way to its buffers; 0
// if it is not worthwhile: there is no space, an item takes a cache line or more, or items differ in size (0).
[[nodiscard]] std::size_t stage_bytes(const machine& on, const buffer_limits& limits, const buffered_route& found,
                                      std::size_t channels, std::size_t item_bytes);

// The direct path: in phases with so few items that sending each without a buffer is cheaper.
struct direct_path_costs {
  double empty_phase_ns, barrier_ns;  // the end of a phase through buffers costs more than the barrier of a direct one
  double ns_per_near_item;            // a direct item for a PE that shares memory
  double ns_per_far_item = 0;         // and for a PE of another node
  double far_share = 0;               // the share of such PEs
  double pes_per_core = 1;            // at least 1: if PEs outnumber cores, they take turns
  [[nodiscard]] double ns_per_direct_item() const {
    return (1 - far_share) * ns_per_near_item + far_share * ns_per_far_item;
  }
};
// The prediction from the machine's constants, for this number of PEs in total and on this node; `gets`: an item is a
// get. Messages between nodes cost what the link says: an operation waits for one of them, a get and a barrier for two.
// `empty_phase_ns`: of the route.
[[nodiscard]] direct_path_costs predicted_direct_path(const machine& on, int pes, int pes_of_node, bool gets,
                                                      double empty_phase_ns);
// The cost of a phase in which a PE has this number of items.
[[nodiscard]] double ns_of_direct_phase(const direct_path_costs& costs, double items);
[[nodiscard]] double ns_of_buffered_phase(const direct_path_costs& costs, double items, double ns_per_buffered_item);

// What a direct phase saves at its end, and what each of its items costs more than one in buffers, in hundredths of a
// nanosecond. Items up to the budget are cheaper if they go directly; a budget of 0: none is.
struct direct_budget {
  std::uint64_t whole;
  std::uint32_t near, far;  // prices of an item for a PE that shares memory, and for another
};
[[nodiscard]] direct_budget budget_of_direct_phase(const direct_path_costs& costs, double ns_per_buffered_item);
// The additional cost of a large item within a node, if buffered: it is copied into a buffer and out of it.
[[nodiscard]] double ns_of_copies(const machine& on, std::size_t item_bytes);

}  // namespace lull::model
