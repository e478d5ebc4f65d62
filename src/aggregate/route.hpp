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
#pragma once
#include <cstdint>
#include <vector>

#include "fabric/layout.hpp"

namespace lull::aggregate {

enum class buffering : std::uint8_t { per_pe, per_node };

struct scheme {
  buffering buffers = buffering::per_pe;
  int hops = 1;  // 1 to 3
  bool operator==(const scheme&) const = default;
};

class route {
 public:
  route(const fabric::layout& places, int pes, scheme how);

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

 private:
  enum class kind : std::uint8_t { all, inside, across, across_shared, nodes };
  [[nodiscard]] int local_rank(pe_id pe) const { return local_[static_cast<std::size_t>(pe.index())]; }
  [[nodiscard]] int pes_on(node_id node) const { return static_cast<int>(places_.members(node).size()); }
  [[nodiscard]] node_id node_towards(int stage, node_id at, node_id to) const;
  [[nodiscard]] pe_id towards(int stage, pe_id at, pe_id to) const;  // `at` when this stage does not move it

  const fabric::layout& places_;
  int pes_;
  scheme how_;
  std::vector<kind> kinds_;
  std::vector<int> local_;  // by PE: its place in its node
  int width_ = 1;           // of the grid of nodes
};

}  // namespace lull::aggregate
