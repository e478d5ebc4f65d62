// By which channels items travel between processes that gather them in buffers, by the schemes of model/costs/item_scheme.hpp, on
// nodes that have as many processes each. And how many items each channel carries when every process pushes as many as
// the others to all of them alike: exact where nodes fill their grid, else as if they did.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model/costs/item_scheme.hpp"

namespace lull::netsim {

class item_paths {
 public:
  // The node of each process.
  item_paths(std::span<const std::uint32_t> nodes, model::item_scheme how);

  [[nodiscard]] static bool nodes_are_equal(std::span<const std::uint32_t> nodes);

  [[nodiscard]] std::uint32_t hops() const { return static_cast<std::uint32_t>(kinds_.size()); }
  // Whether items say whose they are: not where each channel ends there.
  [[nodiscard]] bool addressed() const { return hops() > 1; }

  struct channel {
    std::uint32_t other;  // process
    double share;         // items that it carries, over those that a process pushes
  };
  // Channels of a hop that leave a process for others, those for the next higher ranks first; and those that arrive.
  [[nodiscard]] std::vector<channel> leaving(std::uint32_t hop, std::uint32_t rank) const;
  [[nodiscard]] std::vector<channel> arriving(std::uint32_t hop, std::uint32_t rank) const;

 private:
  using kind = model::hop_kind;
  [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(members_.size()); }
  [[nodiscard]] std::uint32_t on_node() const { return static_cast<std::uint32_t>(members_.front().size()); }
  // The rank of the process that owns the channels to and from this node, on any other.
  [[nodiscard]] std::uint32_t owner_of(std::uint32_t node) const {
    return static_cast<std::uint32_t>(model::channel_owner(static_cast<int>(on_node()), static_cast<int>(node)));
  }
  // Nodes but its own to which, or from which, a hop of kind `nodes` or `across_shared` has a channel of this process.
  [[nodiscard]] std::vector<std::uint32_t> nodes_of(std::uint32_t hop, std::uint32_t rank, bool leaving) const;
  [[nodiscard]] double share(std::uint32_t hop, std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] std::vector<channel> between(std::uint32_t hop, std::uint32_t rank, bool leaving) const;

  model::item_scheme how_;
  std::vector<kind> kinds_;                          // by hop
  std::vector<std::uint32_t> node_, local_;          // by process: its node, its rank there
  std::vector<std::vector<std::uint32_t>> members_;  // by node
};

}  // namespace lull::netsim
