// The hops that an item takes to its PE: a pure function of the layout, the same on every PE.
//
// Each hop moves an item at most once. Schemes with buffers per node count only the hops between nodes; one more hop,
// inside the node, ends at the PE. Channels of each scheme:
//
//   buffers   scheme  hops of the route                                   channels to other nodes
//   per PE    1       all to all                                          of a PE: the PEs of all other nodes
//   per PE    2       intra-node, then inter-node                         those, divided among the PEs of the node
//   per PE    3       intra-node, inter-node, intra-node                  one per other node, divided likewise
//   per node  1       inter-node, then intra-node                         of a node: one per other node
//   per node  2, 3    inter-node in a grid, row by column, then intra-    of a node: 2·√nodes, 3·∛nodes
//                     node
//
// With buffers per node the PEs of a node fill the same buffers, and one PE of the other node receives each buffer. An
// item skips a hop that need not move it. The last hop ends at the item's PE; a PE also has a channel to itself there.
// Nodes may have different numbers of PEs.
//
// Queries for one PE, or for the maximum over all PEs, take time and memory proportional to the number of PEs, because
// every PE of a large program makes a route.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "job/layout.hpp"
#include "model/costs/item_scheme.hpp"
#include "model/costs/node_grid.hpp"

namespace lull::aggregate {

using model::buffering;
using model::node_grid;
using model::node_range;
using scheme = model::item_scheme;

// Channels of a hop at the PE that has the most of them: the size of its symmetric memory, the same on all PEs.
struct channel_counts {
  bool operator==(const channel_counts&) const = default;
  // For a hop between PEs.
  std::size_t intra_node_sources = 0, inter_node_sources = 0, targets = 0, inter_node_targets = 0;
  // For a hop between nodes: channels of one owner, from its node and to it; and channels of a node.
  std::size_t owned = 0, received = 0, of_node = 0;
};

class route {
 public:
  route(const job::layout& layout, int pes, scheme how);

  [[nodiscard]] int hops() const { return static_cast<int>(kinds_.size()); }
  // Whether the channels of this hop connect whole nodes; otherwise they connect PEs.
  [[nodiscard]] bool between_nodes(int hop) const { return kinds_[static_cast<std::size_t>(hop)] == kind::nodes; }
  // Whether the first channel always ends at the item's own PE, so that no item needs to carry it.
  [[nodiscard]] bool is_direct() const { return hops() == 1; }

  // For a hop between PEs: the PEs to which `from` has a channel, ascending.
  [[nodiscard]] std::vector<pe_id> targets(int hop, pe_id from) const;
  // The same for a hop between nodes.
  [[nodiscard]] std::vector<node_id> targets(int hop, node_id from) const;
  // The PEs or nodes that have a channel to `to`, ascending.
  [[nodiscard]] std::vector<pe_id> sources(int hop, pe_id to) const;
  [[nodiscard]] std::vector<node_id> sources(int hop, node_id to) const;

  // The next step of an item for `to` that is at `at` and has passed all hops before `hop`: the first hop from there on
  // that moves it (the last hop if it is at its PE already), and the PE, or the leader of the node, to which it moves.
  struct step {
    int hop;
    pe_id next;
  };
  [[nodiscard]] step next(int hop, pe_id at, pe_id to) const;

  // The channel owner: the PE of node `at` that holds the buffers for node `peer`, and receives what comes from it.
  [[nodiscard]] pe_id owner(node_id at, node_id peer) const;

  [[nodiscard]] channel_counts most_channels(int hop) const;

  // Both ends of a channel compute the position of its buffers at either end; indices count from 0 without a gap.
  // Between PEs: the channel's index among the intra-node or the inter-node channels that arrive at `to`. For all
  // channels that leave `from`: their indices at the targets; for all that arrive at `to`: their indices at the
  // sources.
  [[nodiscard]] std::size_t index_at_target(int hop, pe_id from, pe_id to) const;
  [[nodiscard]] std::vector<std::size_t> indices_of_targets(int hop, pe_id from, std::span<const pe_id> targets) const;
  [[nodiscard]] std::vector<std::size_t> indices_at_sources(int hop, std::span<const pe_id> sources, pe_id to) const;
  // Between nodes: the channel's index among the channels with the same owner, at `to` and at `from`.
  [[nodiscard]] std::size_t index_at_target(int hop, node_id from, node_id to) const;
  [[nodiscard]] std::size_t index_at_source(int hop, node_id from, node_id to) const;

 private:
  using kind = model::hop_kind;
  [[nodiscard]] model::item_place place_of(pe_id pe) const { return {layout_.node_of(pe).index(), local_rank(pe)}; }
  [[nodiscard]] bool has_channel(int hop, pe_id from, pe_id to) const;
  [[nodiscard]] int local_rank(pe_id pe) const { return local_[static_cast<std::size_t>(pe.index())]; }
  [[nodiscard]] int pes_on(node_id node) const { return static_cast<int>(layout_.members(node).size()); }
  [[nodiscard]] channel_counts most_channels_between_nodes(int hop) const;
  [[nodiscard]] std::size_t index_at_source(int hop, pe_id from, pe_id to) const;  // except for kind::across
  // The index of the channel between `here` and `there` at its owner on `here`, where each pair of nodes has one.
  [[nodiscard]] std::size_t index_of_pair(node_id here, node_id there) const;
  [[nodiscard]] pe_id towards(int hop, pe_id at, pe_id to) const;  // `at` when this hop does not move it

  const job::layout& layout_;
  int pes_;
  scheme how_;
  std::vector<kind> kinds_;
  std::vector<int> local_;   // by PE: its rank in its node
  std::vector<int> before_;  // by node: PEs on nodes before it
  node_grid grid_;
};

}  // namespace lull::aggregate
