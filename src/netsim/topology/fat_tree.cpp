// The three-level fat tree: edge switches with the nodes, aggregation switches, core switches (Leiserson 1985).
//
// A pod is a set of edge and aggregation switches, with cables from each edge switch to each aggregation switch of the
// pod. The aggregation switches with the same number in all pods share a group of core switches. Switches are numbered
// edges first, then aggregation, then core, each by pod or group. Ports that lead down come first, then those that lead
// up.
//
// A packet climbs only as far as it must, then descends: up, then down, has no cycle, so one channel is enough.
#include "netsim/topology/entry.hpp"

namespace lull::netsim {
namespace {

const std::vector<key> fat_tree_keys{
    {.name = "radix", .meaning = "number of ports of a switch", .by_default = 48, .least = 2, .most = 1024},
    {.name = "pods", .meaning = "number of pods; 0: as many as a core switch has ports", .by_default = 0, .most = 1024},
    {.name = "nodes_per_edge",
     .meaning = "number of nodes at an edge switch; 0: half its ports. More than half tapers the tree",
     .by_default = 0,
     .most = 1023},
    {.name = "edge_uplinks",
     .meaning = "number of uplinks of an edge switch; 0: all the ports that its nodes do not use",
     .by_default = 0,
     .most = 1024},
    {.name = "aggregations_per_pod",
     .meaning = "number of aggregation switches of a pod; 0: one for each uplink of an edge switch",
     .by_default = 0,
     .most = 1024},
    {.name = "aggregation_uplinks",
     .meaning = "number of uplinks of an aggregation switch; 0: half its ports. Fewer than half tapers the tree",
     .by_default = 0,
     .most = 1023},
    {.name = "edges_per_pod",
     .meaning = "number of edge switches of a pod; 0: as many as the aggregation switches have ports for",
     .by_default = 0,
     .most = 1024},
};

class fat_tree {
 public:
  static constexpr unsigned most_links = 6;  // up to a core switch and down

  explicit fat_tree(const parameters& given);

  [[nodiscard]] std::uint32_t nodes() const { return edges_ * nodes_per_edge_; }
  [[nodiscard]] std::uint32_t switches() const { return edges_ + aggregations_ + cores_; }
  [[nodiscard]] unsigned ports(std::uint32_t s) const {
    if (s < edges_) return nodes_per_edge_ + edge_up_;
    return s < edges_ + aggregations_ ? down_ + aggregation_up_ : pods_ * core_cables_;
  }
  [[nodiscard]] endpoint peer(std::uint32_t s, unsigned port) const;
  [[nodiscard]] endpoint attach_point(std::uint32_t node) const {
    return {node / nodes_per_edge_, static_cast<std::uint16_t>(node % nodes_per_edge_), false};
  }
  [[nodiscard]] unsigned channels(algorithm /*any*/) const { return 1; }
  // Between halves of the pods: what the aggregation switches of one half can send up, as far as the edges can feed it.
  [[nodiscard]] std::uint64_t bisection() const {
    return std::uint64_t{pods_ / 2} * std::min({edges_per_pod_ * nodes_per_edge_, edges_per_pod_ * edge_up_,
                                                aggregations_per_pod_ * aggregation_up_});
  }

  // Stores the pod of the destination, which every switch on the path needs.
  void start(std::uint32_t /*at*/, route_state& packet, const chooser& /*ports*/) const {
    packet.via = pod_[packet.to_switch];
  }
  [[nodiscard]] hop route(std::uint32_t at, route_state& packet, const chooser& ports) const {
    if (at < edges_) return to(ports.among(nodes_per_edge_, edge_up_, packet.key));
    if (at < edges_ + aggregations_) {
      if (pod_[at] != packet.via) return to(ports.among(down_, aggregation_up_, packet.key));
      return to(ports.among((packet.to_switch - packet.via * edges_per_pod_) * edge_cables_, edge_cables_, packet.key));
    }
    return to(ports.among(packet.via * core_cables_, core_cables_, packet.key));
  }

 private:
  static hop to(unsigned port) { return {static_cast<std::uint16_t>(port), 0}; }

  unsigned pods_, nodes_per_edge_, edge_up_, aggregations_per_pod_, aggregation_up_, edges_per_pod_;
  unsigned edge_cables_;                    // between an edge and an aggregation switch of one pod
  unsigned down_;                           // ports of an aggregation switch that lead down
  unsigned cores_per_group_, core_cables_;  // between an aggregation switch and each core switch of its group
  std::uint32_t edges_, aggregations_, cores_;
  std::vector<std::uint16_t> pod_;  // of each edge and aggregation switch
};

fat_tree::fat_tree(const parameters& given) {
  const topology_reader read("fat-tree", fat_tree_keys, given);
  const auto or_else = [](unsigned value, unsigned otherwise) { return value == 0 ? otherwise : value; };
  const unsigned radix = read.one("radix");
  pods_ = or_else(read.one("pods"), radix);
  nodes_per_edge_ = or_else(read.one("nodes_per_edge", radix - 1), radix / 2);
  edge_up_ = or_else(read.one("edge_uplinks", radix - nodes_per_edge_), radix - nodes_per_edge_);
  aggregations_per_pod_ = or_else(read.one("aggregations_per_pod", edge_up_), edge_up_);
  aggregation_up_ = or_else(read.one("aggregation_uplinks", radix - 1), radix / 2);
  edge_cables_ = edge_up_ / aggregations_per_pod_;
  edges_per_pod_ = or_else(read.one("edges_per_pod", radix), (radix - aggregation_up_) / std::max(edge_cables_, 1U));
  down_ = edges_per_pod_ * edge_cables_;
  read.require(edge_up_ % aggregations_per_pod_ == 0, "aggregations_per_pod", "divide edge_uplinks", edge_up_);
  read.require(edges_per_pod_ > 0 && down_ + aggregation_up_ <= radix, "edges_per_pod",
               "leave an aggregation switch ports for its uplinks, so it is at most",
               (radix - aggregation_up_) / edge_cables_);
  // Core switches of a group: as few as have ports for the cables of all pods, with equally many cables from each pod
  // to each.
  cores_per_group_ = (pods_ * aggregation_up_ + radix - 1) / radix;
  while (cores_per_group_ < aggregation_up_ && aggregation_up_ % cores_per_group_ != 0) ++cores_per_group_;
  core_cables_ = aggregation_up_ / cores_per_group_;
  read.require(pods_ * core_cables_ <= radix, "pods", "be at most the number of ports of a core switch,", radix);
  edges_ = pods_ * edges_per_pod_;
  aggregations_ = pods_ * aggregations_per_pod_;
  cores_ = pods_ == 1 ? 0 : aggregations_per_pod_ * cores_per_group_;
  if (pods_ == 1) aggregation_up_ = 0;
  for (std::uint32_t e = 0; e < edges_; ++e) pod_.push_back(static_cast<std::uint16_t>(e / edges_per_pod_));
  for (std::uint32_t a = 0; a < aggregations_; ++a)
    pod_.push_back(static_cast<std::uint16_t>(a / aggregations_per_pod_));
}

endpoint fat_tree::peer(std::uint32_t s, unsigned port) const {
  const auto at = [](std::uint32_t other, unsigned its_port) {
    return endpoint{other, static_cast<std::uint16_t>(its_port), false};
  };
  if (s < edges_) {
    if (port < nodes_per_edge_) return {s * nodes_per_edge_ + port, 0, true};
    const unsigned cable = port - nodes_per_edge_;
    const std::uint32_t up = edges_ + pod_[s] * aggregations_per_pod_ + cable / edge_cables_;
    return at(up, s % edges_per_pod_ * edge_cables_ + cable % edge_cables_);
  }
  if (s < edges_ + aggregations_) {
    const std::uint32_t number = (s - edges_) % aggregations_per_pod_;
    if (port < down_)
      return at(pod_[s] * edges_per_pod_ + port / edge_cables_,
                nodes_per_edge_ + number * edge_cables_ + port % edge_cables_);
    const unsigned cable = port - down_;
    const std::uint32_t up = edges_ + aggregations_ + number * cores_per_group_ + cable / core_cables_;
    return at(up, pod_[s] * core_cables_ + cable % core_cables_);
  }
  const std::uint32_t core = s - edges_ - aggregations_;
  const unsigned pod = port / core_cables_;
  return at(edges_ + pod * aggregations_per_pod_ + core / cores_per_group_,
            down_ + core % cores_per_group_ * core_cables_ + port % core_cables_);
}

}  // namespace

topology_entry fat_tree_entry() {
  return make_entry<fat_tree>("fat-tree", "three levels of switches: edge, aggregation, core", fat_tree_keys,
                              {{"radix", {4}}},
                              {{"fat-tree-4608",
                                "4,608 nodes: 8 pods of 24 edge and 24 aggregation switches, 96 core, radix 48",
                                {{"radix", {48}}, {"pods", {8}}}},
                               {"fat-tree-65536", "65,536 nodes: the full tree of radix 64", {{"radix", {64}}}}});
}

}  // namespace lull::netsim
