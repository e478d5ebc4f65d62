// Leaf and spine: the two-level fat tree, a folded Clos network (Clos 1953; Leiserson 1985).
//
// Nodes are attached to leaf switches, and each leaf is cabled to each spine switch. Leaves are numbered first, then
// spines. Ports of a leaf: those to nodes first, then those to spines; parallel cables next to each other.
//
// A packet goes up to any spine and down: up, then down, has no cycle, so one channel is enough.
#include <algorithm>

#include "netsim/topology/entry.hpp"

namespace lull::netsim {
namespace {

const std::vector<key> leaf_spine_keys{
    {.name = "leaves", .meaning = "number of switches with nodes", .by_default = 64, .least = 1, .most = 4096},
    {.name = "nodes_per_leaf", .meaning = "number of nodes at a leaf", .by_default = 32, .least = 1, .most = 1024},
    {.name = "spines",
     .meaning = "number of switches that connect the leaves; fewer uplinks than nodes taper the tree",
     .by_default = 32,
     .least = 1,
     .most = 1024},
    {.name = "cables",
     .meaning = "number of cables between a leaf and a spine",
     .by_default = 1,
     .least = 1,
     .most = 64},
};

class leaf_spine {
 public:
  static constexpr unsigned most_links = 4;

  explicit leaf_spine(const parameters& given);

  [[nodiscard]] std::uint32_t nodes() const { return leaves_ * nodes_per_leaf_; }
  [[nodiscard]] std::uint32_t switches() const { return leaves_ + spines_; }
  [[nodiscard]] unsigned ports(std::uint32_t s) const {
    return s < leaves_ ? nodes_per_leaf_ + spines_ * cables_ : leaves_ * cables_;
  }
  [[nodiscard]] endpoint peer(std::uint32_t s, unsigned port) const;
  [[nodiscard]] endpoint attach_point(std::uint32_t node) const {
    return {node / nodes_per_leaf_, static_cast<std::uint16_t>(node % nodes_per_leaf_), false};
  }
  [[nodiscard]] static unsigned channels(algorithm /*any*/) { return 1; }
  // Between halves of the leaves: what one half can send up, as far as its nodes can feed it.
  [[nodiscard]] std::uint64_t bisection() const {
    return std::uint64_t{leaves_ / 2} * std::min(nodes_per_leaf_, spines_ * cables_);
  }

  static void start(std::uint32_t /*at*/, route_state& /*packet*/, const chooser& /*ports*/) {}
  [[nodiscard]] hop route(std::uint32_t at, route_state& packet, const chooser& ports) const {
    const bool up = at < leaves_;
    const unsigned port = up ? ports.among(nodes_per_leaf_, spines_ * cables_, packet.key)
                             : ports.among(packet.to_switch * cables_, cables_, packet.key);
    return {static_cast<std::uint16_t>(port), 0};
  }

 private:
  unsigned leaves_, nodes_per_leaf_, spines_, cables_;
};

leaf_spine::leaf_spine(const parameters& given) {
  const topology_reader read("leaf-spine", leaf_spine_keys, given);
  leaves_ = read.one("leaves");
  nodes_per_leaf_ = read.one("nodes_per_leaf");
  spines_ = read.one("spines");
  cables_ = read.one("cables");
  read.require(std::int64_t{leaves_} * cables_ <= most_ports, "leaves", "keep the ports of a spine at or below",
               most_ports);
  read.require(std::int64_t{nodes_per_leaf_} + std::int64_t{spines_} * cables_ <= most_ports, "spines",
               "keep the ports of a leaf at or below", most_ports);
}

endpoint leaf_spine::peer(std::uint32_t s, unsigned port) const {
  const auto at = [](std::uint32_t other, unsigned its_port) {
    return endpoint{other, static_cast<std::uint16_t>(its_port), false};
  };
  if (s >= leaves_) {
    const std::uint32_t leaf = port / cables_;
    return at(leaf, nodes_per_leaf_ + (s - leaves_) * cables_ + port % cables_);
  }
  if (port < nodes_per_leaf_) return {s * nodes_per_leaf_ + port, 0, true};
  const unsigned cable = port - nodes_per_leaf_;
  return at(leaves_ + cable / cables_, s * cables_ + cable % cables_);
}

}  // namespace

topology_entry leaf_spine_entry() {
  return make_entry<leaf_spine>(
      "leaf-spine", "two levels of switches, with cables from each leaf to each spine", leaf_spine_keys,
      {{"leaves", {4}}, {"nodes_per_leaf", {4}}, {"spines", {2}}},
      {{"leaf-spine-2048", "2,048 nodes: 64 leaves of 32 nodes, 32 spines, the full tree of radix 64", {}}});
}

}  // namespace lull::netsim
