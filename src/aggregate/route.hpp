// By which ways an item comes to its PE: a pure function of the layout, the same on every PE.
//
// A route has stages; each moves an item at most once. What the stages guarantee:
//
//   buffers    hops  stages                                              lanes of a PE to other nodes
//   per PE     1     all to all                                          PEs of all other nodes
//   per PE     2     inside the node, then between nodes                 those PEs, shared by the PEs of the node
//   per PE     3     inside, then between nodes, then inside             one per other node, shared by the PEs of the
//   node per node   1     between nodes, then inside                          one per other node and node, not PE per
//   node   2, 3  between nodes in a grid, row by column, then inside 2·√nodes, 3·∛nodes per node
//
// With buffers per node the PEs of a node fill the same buffers; each buffer is received by one PE of the other node.
// An item that a stage need not move skips it. The last stage ends at the item's PE; a PE also has a lane to itself
// there. Nodes may have different numbers of PEs.
//
// What is asked of a route for one PE, or for the most of all PEs, takes time and memory of the order of the number of
// PEs: a program of many PEs makes a route on each of them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "aggregate/node_grid.hpp"
#include "job/layout.hpp"

namespace lull::aggregate {

enum class buffering : std::uint8_t { per_pe, per_node };

struct scheme {
  buffering buffers = buffering::per_pe;
  int hops = 1;  // 1 to 3
  bool operator==(const scheme&) const = default;
};

// Lanes of a stage at the PE that has most of them: what its symmetric memory must hold, alike on all PEs. `near` are
// those inside a node.
struct lane_counts {
  bool operator==(const lane_counts&) const = default;
  std::size_t near_sources = 0, far_sources = 0, targets = 0, far_targets = 0;  // of a stage between PEs
  std::size_t keeps = 0, receives = 0;  // between nodes: as keeper of lanes from its node, and of those to it
  std::size_t lanes = 0;                // between nodes: of a node
};

class route {
 public:
  route(const job::layout& places, int pes, scheme how);

  [[nodiscard]] int stages() const { return static_cast<int>(kinds_.size()); }
  // Whether the lanes of this stage are between nodes as wholes; else they are between PEs.
  [[nodiscard]] bool between_nodes(int stage) const { return kinds_[static_cast<std::size_t>(stage)] == kind::nodes; }
  // Whether an item's own PE always is its first lane's: no item needs to carry it.
  [[nodiscard]] bool is_direct() const { return stages() == 1; }

  // Of a stage between PEs: those to which `from` has a lane, ascending.
  [[nodiscard]] std::vector<pe_id> targets(int stage, pe_id from) const;
  // Of a stage between nodes: likewise.
  [[nodiscard]] std::vector<node_id> targets(int stage, node_id from) const;
  // Those that have a lane to `to`, ascending.
  [[nodiscard]] std::vector<pe_id> sources(int stage, pe_id to) const;
  [[nodiscard]] std::vector<node_id> sources(int stage, node_id to) const;

  // Where an item for `to` goes that stands at `at` and has passed all stages before `stage`: the first stage from
  // there on that moves it (the last one when it is there already), and the PE, or the leader of the node, it moves to.
  struct step {
    int stage;
    pe_id next;
  };
  [[nodiscard]] step next(int stage, pe_id at, pe_id to) const;

  // The PE of node `at` that holds the buffers for node `peer`, and receives what comes from it.
  [[nodiscard]] pe_id keeper(node_id at, node_id peer) const;

  [[nodiscard]] lane_counts most_lanes(int stage) const;

  // Both ends of a lane know where its buffers stand at either end: places count from 0 without a gap. Between PEs, the
  // lane's place among those that come to `to`, the near or the far ones; and for all lanes that leave `from`, and all
  // that come to `to`, their places where they leave.
  [[nodiscard]] std::size_t place_at_target(int stage, pe_id from, pe_id to) const;
  [[nodiscard]] std::vector<std::size_t> places_of_targets(int stage, pe_id from, std::span<const pe_id> targets) const;
  [[nodiscard]] std::vector<std::size_t> places_at_sources(int stage, std::span<const pe_id> sources, pe_id to) const;
  // Between nodes, among the lanes with the same keeper: at `to`, and at `from`.
  [[nodiscard]] std::size_t place_at_target(int stage, node_id from, node_id to) const;
  [[nodiscard]] std::size_t place_at_source(int stage, node_id from, node_id to) const;

 private:
  enum class kind : std::uint8_t { all, inside, across, across_shared, nodes };
  [[nodiscard]] int local_rank(pe_id pe) const { return local_[static_cast<std::size_t>(pe.index())]; }
  [[nodiscard]] int pes_on(node_id node) const { return static_cast<int>(places_.members(node).size()); }
  [[nodiscard]] lane_counts most_lanes_between_nodes(int stage) const;
  [[nodiscard]] std::size_t place_at_source(int stage, pe_id from, pe_id to) const;  // but of kind across
  // Of a lane between `here` and `there`, at the PE of `here` that keeps it where each pair of nodes has one.
  [[nodiscard]] std::size_t place_of_pair(node_id here, node_id there) const;
  [[nodiscard]] pe_id towards(int stage, pe_id at, pe_id to) const;  // `at` when this stage does not move it

  const job::layout& places_;
  int pes_;
  scheme how_;
  std::vector<kind> kinds_;
  std::vector<int> local_;   // by PE: its place in its node
  std::vector<int> before_;  // by node: PEs on nodes before it
  node_grid grid_;
};

}  // namespace lull::aggregate
