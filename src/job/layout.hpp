// Which PE is on which node. A pure function of the launcher's data and LULL_NODES, the same on every PE.
//
// A node is a set of PEs that share memory. LULL_NODES=k divides the PEs of one host, in rank order, into k blocks of
// nearly equal size, each an emulated node, whose PEs reach those of another block only through UCX.
#pragma once
#include <span>
#include <vector>

#include "base/units.hpp"

namespace lull::job {

// The block, 0 ≤ block < blocks, of number `position` of `count` PEs. Requires 1 ≤ blocks ≤ count.
[[nodiscard]] constexpr int block_of(int position, int count, int blocks) {
  return static_cast<int>(static_cast<long>(position) * blocks / count);
}

struct place {
  int host;                                        // its lowest PE
  int block;                                       // emulated node within the host
  auto operator<=>(const place&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 misreads it
};

class layout {
 public:
  // places[i] is the place of PE i; nodes are numbered by ascending (host, block).
  layout(std::span<const place> places, pe_id me);

  [[nodiscard]] int nodes() const { return static_cast<int>(members_.size()); }
  [[nodiscard]] node_id node_of(pe_id pe) const { return nodes_[static_cast<std::size_t>(pe.index())]; }
  [[nodiscard]] node_id my_node() const { return node_of(me_); }
  [[nodiscard]] bool shares_memory(pe_id pe) const { return node_of(pe) == my_node(); }
  [[nodiscard]] std::span<const pe_id> members(node_id node) const {
    return members_[static_cast<std::size_t>(node.index())];
  }
  [[nodiscard]] pe_id leader(node_id node) const { return members(node).front(); }

 private:
  pe_id me_;
  std::vector<node_id> nodes_;               // by PE
  std::vector<std::vector<pe_id>> members_;  // by node, ascending
};

}  // namespace lull::job
