// The channels by which items travel between processes that aggregate them in buffers, by the schemes of
// model/costs/item_scheme.hpp, on nodes with equal numbers of processes; and the number of items that each channel carries if
// every process pushes the same number to each process. Exact if nodes fill their grid; otherwise computed as if they
// did.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model/costs/item_scheme.hpp"

namespace lull::netsim {

class item_paths {
 public:
  // `nodes`: the node of each process.
  item_paths(std::span<const std::uint32_t> nodes, model::item_scheme how);

  [[nodiscard]] static bool nodes_are_equal(std::span<const std::uint32_t> nodes);

  [[nodiscard]] std::uint32_t hops() const { return static_cast<std::uint32_t>(kinds_.size()); }
  // Whether items carry an address; not if each channel ends at its destination.
  [[nodiscard]] bool addressed() const { return hops() > 1; }

  struct channel {
    std::uint32_t other;  // process
    double share;         // items on this channel, relative to those that a process pushes
  };
  // The channels of a hop that leave a process, those to the next higher ranks first; and those that arrive.
  [[nodiscard]] std::vector<channel> leaving(std::uint32_t hop, std::uint32_t rank) const;
  [[nodiscard]] std::vector<channel> arriving(std::uint32_t hop, std::uint32_t rank) const;

 private:
  using kind = model::hop_kind;
  [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(members_.size()); }
  [[nodiscard]] std::uint32_t on_node() const { return static_cast<std::uint32_t>(members_.front().size()); }
  // The rank, on its node, of the process that owns the channels to and from `node`; the same on every other node.
  [[nodiscard]] std::uint32_t owner_of(std::uint32_t node) const {
    return static_cast<std::uint32_t>(model::channel_owner(static_cast<int>(on_node()), static_cast<int>(node)));
  }
  // The other nodes to which, or from which, a hop of kind `nodes` or `across_shared` has a channel of this process.
  [[nodiscard]] std::vector<std::uint32_t> nodes_of(std::uint32_t hop, std::uint32_t rank, bool leaving) const;
  [[nodiscard]] double share(std::uint32_t hop, std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] std::vector<channel> between(std::uint32_t hop, std::uint32_t rank, bool leaving) const;

  model::item_scheme how_;
  std::vector<kind> kinds_;                          // by hop
  std::vector<std::uint32_t> node_, local_;          // by process: its node, its rank there
  std::vector<std::vector<std::uint32_t>> members_;  // by node
};

}  // namespace lull::netsim
