// Nodes as a grid of `hops` dimensions: which channels between nodes a hop has. Each hop corrects one digit of the
// node's number, the highest first; if the next node does not exist, the hop goes to the destination instead. The last
// hop goes to the destination.
//
// The nodes that agree with one in all digits corrected so far form a block. The nodes of a block that differ only in
// the digit of the hop form a column. The last block may be incomplete: nodes above its rest have no node of their
// column there, but a channel to each node of that rest. A node thus has channels to its column and perhaps to that
// range; its column and perhaps a range of each row have channels to it. These are few ranges, which are visited
// without being listed.
#pragma once
#include <algorithm>

namespace lull::model {

struct node_range {
  int begin, end;
};

class node_grid {
 public:
  node_grid(int nodes, int hops) : nodes_(nodes), hops_(hops) {
    const auto holds = [&] {
      long all = 1;
      for (int i = 0; i < hops; ++i) all *= width_;
      return all >= nodes;
    };
    while (!holds()) ++width_;
  }

  [[nodiscard]] int width() const { return width_; }  // nodes along each dimension of a complete grid
  [[nodiscard]] bool has_idle_hop() const {
    return hops_ > 1 && weight_of(0) >= nodes_;
  }  // with one hop less the grid would be the same

  // The node to which the hop takes an item for `to` from `at`; `at` if it does not move the item.
  [[nodiscard]] int towards(int hop, int at, int to) const {
    if (at == to || hop == hops_ - 1) return to;
    const int weight = weight_of(hop);
    const int via = at + (to / weight % width_ - at / weight % width_) * weight;
    return via < nodes_ ? via : to;
  }

  // Visits, in disjoint ranges, the nodes to which `at` has a channel, and `at`, while visit(range) returns true.
  template <class Visit>
  void visit_targets(int hop, int at, Visit&& visit) const {
    const block b(*this, hop, at);
    if (b.rest() > 0 && at % b.weight >= b.rest() && !visit(node_range{b.whole, b.end})) return;
    visit_column(b, at, visit);
  }
  // The same for nodes that have a channel to `at`.
  template <class Visit>
  void visit_sources(int hop, int at, Visit&& visit) const {
    const block b(*this, hop, at);
    if (!visit_column(b, at, visit)) return;
    if (at < b.whole) return;
    for (int row = b.begin; row < b.whole; row += b.weight)
      if (!visit(node_range{row + b.rest(), row + b.weight})) return;
  }
  // Whether nodes outside its column have a channel to `at`.
  [[nodiscard]] bool in_incomplete_row(int hop, int at) const { return at >= block(*this, hop, at).whole; }
  // The first node of its column, which identifies the column.
  [[nodiscard]] int column_of(int hop, int at) const {
    const block b(*this, hop, at);
    return b.begin + at % b.weight;
  }

 private:
  struct block {
    block(const node_grid& g, int hop, int at)
        : weight(g.weight_of(hop)),
          begin(at / (weight * g.width_) * (weight * g.width_)),
          end(std::min(g.nodes_, begin + weight * g.width_)),
          whole(begin + (end - begin) / weight * weight) {}
    [[nodiscard]] int rest() const { return end - whole; }  // nodes of the incomplete row
    int weight, begin, end;
    int whole;  // end of the complete rows
  };
  [[nodiscard]] int weight_of(int hop) const {
    int weight = 1;
    for (int i = hop; i < hops_ - 1; ++i) weight *= width_;
    return weight;
  }
  template <class Visit>
  static bool visit_column(const block& b, int at, Visit&& visit) {
    if (b.weight == 1) return visit(node_range{b.begin, b.end});
    for (int node = b.begin + at % b.weight; node < b.end; node += b.weight)
      if (!visit(node_range{node, node + 1})) return false;
    return true;
  }

  int nodes_, hops_;
  int width_ = 1;
};

}  // namespace lull::model
