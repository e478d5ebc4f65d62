// Nodes as a grid of `hops` dimensions: which lanes between nodes a stage has. Each stage corrects one digit of the
// node's number, the highest first; a node that does not exist is skipped by going to the destination itself. The last
// stage goes to the destination.
//
// The nodes that agree with one in all digits already correct are a block. In it, those that differ in the digit of the
// stage only are its column. The last block may be incomplete: nodes above the rest have no node of their column there,
// and a lane to each node of that rest instead. So what a node has lanes to is its column and perhaps that range, and
// what has lanes to it its column and perhaps a range of each row: few ranges, which are visited without being listed.
#pragma once
#include <algorithm>

namespace lull::aggregate {

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

  // Where an item for `to` goes from `at`; `at` when this stage does not move it.
  [[nodiscard]] int towards(int stage, int at, int to) const {
    if (at == to || stage == hops_ - 1) return to;
    const int weight = weight_of(stage);
    const int via = at + (to / weight % width_ - at / weight % width_) * weight;
    return via < nodes_ ? via : to;
  }

  // Nodes to which `at` has a lane, and `at`, in disjoint ranges, as long as visit(range) answers true.
  template <class Visit>
  void visit_targets(int stage, int at, Visit&& visit) const {
    const block b(*this, stage, at);
    if (b.rest() > 0 && at % b.weight >= b.rest() && !visit(node_range{b.whole, b.end})) return;
    visit_column(b, at, visit);
  }
  // Likewise nodes that have a lane to `at`.
  template <class Visit>
  void visit_sources(int stage, int at, Visit&& visit) const {
    const block b(*this, stage, at);
    if (!visit_column(b, at, visit)) return;
    if (at < b.whole) return;
    for (int row = b.begin; row < b.whole; row += b.weight)
      if (!visit(node_range{row + b.rest(), row + b.weight})) return;
  }
  // Whether more nodes than its column have a lane to `at`.
  [[nodiscard]] bool in_incomplete_row(int stage, int at) const { return at >= block(*this, stage, at).whole; }
  // The first node of its column, which names the column.
  [[nodiscard]] int column_of(int stage, int at) const {
    const block b(*this, stage, at);
    return b.begin + at % b.weight;
  }

 private:
  struct block {
    block(const node_grid& g, int stage, int at)
        : weight(g.weight_of(stage)),
          begin(at / (weight * g.width_) * (weight * g.width_)),
          end(std::min(g.nodes_, begin + weight * g.width_)),
          whole(begin + (end - begin) / weight * weight) {}
    [[nodiscard]] int rest() const { return end - whole; }  // nodes of the row that is not complete
    int weight, begin, end;
    int whole;  // end of the complete rows
  };
  [[nodiscard]] int weight_of(int stage) const {
    int weight = 1;
    for (int i = stage; i < hops_ - 1; ++i) weight *= width_;
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

}  // namespace lull::aggregate
