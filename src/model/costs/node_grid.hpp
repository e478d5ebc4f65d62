// Nodes as a grid of `hops` dimensions: which channels between nodes a hop has. Each hop corrects one digit of the
// node's number, the highest first; a node that does not exist is skipped by going to the destination itself. The last
// hop goes to the destination.
//
// The nodes that agree with one in all digits already correct are a block. In it, those that differ in the digit of the
// hop only are its column. The last block may be incomplete: nodes above the rest have no node of their column there,
// and a channel to each node of that rest instead. So what a node has channels to is its column and perhaps that range,
// and what has channels to it its column and perhaps a range of each row: few ranges, which are visited without being
// listed.
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
  }  // one hop less is the same grid

  // Where an item for `to` goes from `at`; `at` when this hop does not move it.
  [[nodiscard]] int towards(int hop, int at, int to) const {
    if (at == to || hop == hops_ - 1) return to;
    const int weight = weight_of(hop);
    const int via = at + (to / weight % width_ - at / weight % width_) * weight;
    return via < nodes_ ? via : to;
  }

  // Nodes to which `at` has a channel, and `at`, in disjoint ranges, as long as visit(range) answers true.
  template <class Visit>
  void visit_targets(int hop, int at, Visit&& visit) const {
    const block b(*this, hop, at);
    if (b.rest() > 0 && at % b.weight >= b.rest() && !visit(node_range{b.whole, b.end})) return;
    visit_column(b, at, visit);
  }
  // Likewise nodes that have a channel to `at`.
  template <class Visit>
  void visit_sources(int hop, int at, Visit&& visit) const {
    const block b(*this, hop, at);
    if (!visit_column(b, at, visit)) return;
    if (at < b.whole) return;
    for (int row = b.begin; row < b.whole; row += b.weight)
      if (!visit(node_range{row + b.rest(), row + b.weight})) return;
  }
  // Whether more nodes than its column have a channel to `at`.
  [[nodiscard]] bool in_incomplete_row(int hop, int at) const { return at >= block(*this, hop, at).whole; }
  // The first node of its column, which names the column.
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
    [[nodiscard]] int rest() const { return end - whole; }  // nodes of the row that is not complete
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
