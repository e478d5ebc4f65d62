// The scheme by which items travel in buffers between processes: its hops, where each hop takes an item, and which
// process has which channel. Pure functions of the layout, on which the routes of the aggregator
// (aggregate/channels/route.hpp) and of the simulator's applications (netsim/skeletons/item_paths.hpp) are built.
#pragma once
#include <cstdint>
#include <vector>

#include "model/costs/node_grid.hpp"

namespace lull::model {

enum class buffering : std::uint8_t { per_pe, per_node };

struct item_scheme {
  buffering buffers = buffering::per_pe;
  int hops = 1;  // 1 to 3; with buffers per node, hops between nodes: one more inside the node follows
  bool operator==(const item_scheme&) const = default;
};

// The processes or nodes between which a hop has channels.
enum class hop_kind : std::uint8_t {
  all,            // any two processes
  inside,         // two processes of a node
  across,         // a process and, on other nodes, the processes to which it takes the items of its node
  across_shared,  // two nodes, one channel per pair, at its owner on either node
  nodes           // two nodes of a grid, with channels like across_shared
};

[[nodiscard]] inline std::vector<hop_kind> hop_kinds_of(item_scheme how) {
  if (how.buffers == buffering::per_node) {
    std::vector<hop_kind> kinds(static_cast<std::size_t>(how.hops), hop_kind::nodes);
    kinds.push_back(hop_kind::inside);
    return kinds;
  }
  if (how.hops == 1) return {hop_kind::all};
  if (how.hops == 2) return {hop_kind::inside, hop_kind::across};
  return {hop_kind::inside, hop_kind::across_shared, hop_kind::inside};
}

// The rank, on a node with `processes` processes, of the owner of the channels to and from node `other`.
[[nodiscard]] constexpr int channel_owner(int processes, int other) { return other % processes; }
// The rank, on a node with `processes` processes, of the one that sends items to processes of rank `local` on other
// nodes.
[[nodiscard]] constexpr int gateway(int processes, int local) { return local % processes; }

// A process: its node, and its rank on that node.
struct item_place {
  int node, local;
  bool operator==(const item_place&) const = default;
};

// Whether a hop between processes has a channel between these two; a process has a channel to itself only if that is of
// the hop's kind. `on_node(node)` returns the number of processes on a node.
template <class OnNode>
[[nodiscard]] bool has_channel(hop_kind kind, item_place from, item_place to, OnNode&& on_node) {
  const bool same_node = from.node == to.node;
  switch (kind) {
    case hop_kind::all:
      return true;
    case hop_kind::inside:
      return same_node;
    case hop_kind::across:
      return same_node ? from.local == to.local : gateway(on_node(from.node), to.local) == from.local;
    case hop_kind::across_shared:
      return !same_node && channel_owner(on_node(from.node), to.node) == from.local &&
             channel_owner(on_node(to.node), from.node) == to.local;
    case hop_kind::nodes:
      break;
  }
  return false;
}

// Where hop number `hop` of this kind takes an item for `to` from `at`; `at` if it does not move it. Between nodes of a
// grid only the node matters, represented by rank 0.
template <class OnNode>
[[nodiscard]] item_place item_towards(item_scheme how, hop_kind kind, int hop, const node_grid& grid, item_place at,
                                      item_place to, OnNode&& on_node) {
  switch (kind) {
    case hop_kind::all:
    case hop_kind::across:
      return to;
    case hop_kind::inside:
      if (at.node == to.node) return to;
      return {at.node, how.hops == 2 ? gateway(on_node(at.node), to.local) : channel_owner(on_node(at.node), to.node)};
    case hop_kind::across_shared:
      return at.node == to.node ? at : item_place{to.node, channel_owner(on_node(to.node), at.node)};
    case hop_kind::nodes:
      if (const int next = grid.towards(hop, at.node, to.node); next != at.node) return {next, 0};
      return at;
  }
  return to;
}

}  // namespace lull::model
