// The torus: switches in a grid of any number of dimensions, each line of the grid closed to a ring (k-ary n-cube,
// Dally and Seitz 1987, but with a separate length for each dimension).
//
// A ring of two positions has one cable, not two, and one of a single position none. Ports: those to nodes first, then
// for each dimension one up and one down the ring; a ring of two has one port.
//
// A path takes the dimensions in ascending or in descending order, and in each ring the shorter direction; if both are
// equally short, `among` chooses. `minimal` ascends. `minimal-random` draws one of the two orders (O1TURN, Seo et al.
// 2005), and the adaptive algorithms take the one whose first port has the shorter wait. Valiant paths ascend to the
// intermediate switch and descend from there; the adaptive algorithms decide in `start` whether to take one (UGAL-L).
//
// Channels. Ascending and descending parts have separate classes; only a packet in the middle of a Valiant path changes
// the class, from ascending to descending. In a class the order of dimensions has no cycle. In a ring, a packet that
// has yet to cross the dateline, between the last position and the first, is on one channel; all others are on a second
// channel, on which no packet crosses the dateline. Neither channel therefore has a cycle: two channels for each class.
// Rings of up to three positions need no second channel, as no packet takes two links there.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "netsim/topology/entry.hpp"
#include "netsim/topology/grid.hpp"

namespace lull::netsim {
namespace {

constexpr std::size_t most_dimensions = 8;  // a byte of 64 bits each
constexpr std::int64_t most_in_a_ring = 256;

const std::vector<key> torus_keys{
    {.name = "dimensions",
     .meaning = "number of switches in the ring of each dimension",
     .by_default = list{16, 16, 18},
     .least = 1,
     .most = most_in_a_ring,
     .list = true},
    {.name = "nodes_per_switch", .meaning = "number of nodes at a switch", .by_default = 1, .least = 1, .most = 1024},
};

class torus {
 public:
  // Half of each ring to the intermediate switch, half of each ring from there, and the links of the nodes.
  static constexpr auto most_links = static_cast<unsigned>(2 * most_dimensions * most_in_a_ring / 2 + 2);

  explicit torus(const parameters& given);

  [[nodiscard]] std::uint32_t nodes() const { return switches() * nodes_per_switch_; }
  [[nodiscard]] std::uint32_t switches() const { return static_cast<std::uint32_t>(coordinates_.size()); }
  [[nodiscard]] unsigned ports(std::uint32_t /*any*/) const { return ports_; }
  [[nodiscard]] endpoint peer(std::uint32_t s, unsigned port) const;
  [[nodiscard]] endpoint attach_point(std::uint32_t node) const {
    return {node / nodes_per_switch_, static_cast<std::uint16_t>(node % nodes_per_switch_), false};
  }
  [[nodiscard]] unsigned channels(algorithm a) const {
    const bool one_class = a == algorithm::minimal || (a == algorithm::minimal_random && rings_ < 2);
    return (one_class ? 1U : 2U) << dateline_;
  }
  // Two cuts through all rings of the dimension in which they sever the fewest links, with half of the positions
  // between them; a dimension of odd length (used only if none is even) has one position more on one side.
  [[nodiscard]] std::uint64_t bisection() const;

  void start(std::uint32_t at, route_state& packet, const chooser& ports) const {
    if (ports.how() == algorithm::minimal) return;
    const std::uint64_t here = coordinates_[at];
    const std::uint64_t there = coordinates_[packet.to_switch];
    if (ports.how() == algorithm::minimal_random) {
      if (both_orders(here ^ there)) packet.stage = ports.random().below(2) == 0 ? ascending : descending;
      return;
    }
    const std::uint32_t middle = ports.random().below(switches());
    const bool useful = middle != at && middle != packet.to_switch;
    if (ports.how() == algorithm::valiant) {
      if (useful) packet.via = middle;
      return;
    }
    unsigned port = step(here, there, ascending, packet.key, ports).port;
    if (both_orders(here ^ there)) {
      const unsigned other = step(here, there, descending, packet.key, ports).port;
      const picoseconds gained = ports.wait(port) - ports.wait(other);
      // Among equals `adaptive` draws; `power-aware` ascends, so as not to wake links in every dimension.
      const bool draws = gained == 0 && ports.how() == algorithm::adaptive;
      if (gained > 0 || (draws && ports.random().below(2) == 0)) {
        packet.stage = descending;
        port = other;
      }
    }
    const unsigned links = apart(here, there);
    // No detour is better, not even one that takes no time.
    if (!useful || !ports.prefers_detour(port, links, port, 0)) return;
    const std::uint64_t by = coordinates_[middle];
    const unsigned first = step(here, by, ascending, packet.key, ports).port;
    if (!ports.prefers_detour(port, links, first, apart(here, by) + apart(by, there))) return;
    packet.via = middle;
    packet.stage = ascending;
  }

  [[nodiscard]] hop route(std::uint32_t at, route_state& packet, const chooser& ports) const {
    if (packet.via == at) {
      packet.via = nowhere;
      packet.stage = descending;
    }
    const std::uint32_t to = packet.via == nowhere ? packet.to_switch : packet.via;
    return step(coordinates_[at], coordinates_[to], packet.stage, packet.key, ports);
  }

 private:
  static constexpr std::uint8_t ascending = 0;
  static constexpr std::uint8_t descending = 1;

  // Whether more than one byte is set, so that the two orders are different paths.
  [[nodiscard]] static bool both_orders(std::uint64_t difference) {
    return std::countr_zero(difference) / 8 + std::countl_zero(difference) / 8 < 7;
  }
  [[nodiscard]] static unsigned coordinate(std::uint64_t packed, unsigned dimension) {
    return packed >> 8U * dimension & 0xffU;
  }
  // The next hop, in the first dimension that differs in this order.
  [[nodiscard]] hop step(std::uint64_t here, std::uint64_t there, std::uint8_t order, std::uint32_t key,
                         const chooser& ports) const {
    const std::uint64_t difference = here ^ there;
    const auto dimension = static_cast<unsigned>(order == ascending ? std::countr_zero(difference) / 8
                                                                    : 7 - std::countl_zero(difference) / 8);
    const unsigned from = coordinate(here, dimension);
    const unsigned to = coordinate(there, dimension);
    const unsigned size = sizes_[dimension];
    const unsigned up = to - from + (to < from ? size : 0);
    unsigned port = first_of_[dimension];
    bool downward = 2 * up > size;
    if (2 * up == size && size > 2) downward = ports.among(port, 2, mixed(key + dimension)) != port;
    port += downward ? 1 : 0;
    const bool crosses = downward ? from < to : from > to;
    const unsigned channel = (unsigned{order} << dateline_) + (crosses ? 0 : dateline_);
    return {static_cast<std::uint16_t>(port), static_cast<std::uint8_t>(channel)};
  }
  [[nodiscard]] unsigned apart(std::uint64_t here, std::uint64_t there) const {
    unsigned links = 0;
    for (unsigned d = 0; d < dimensions_; ++d) {
      const unsigned from = coordinate(here, d);
      const unsigned to = coordinate(there, d);
      const unsigned one_way = from < to ? to - from : from - to;
      links += std::min(one_way, sizes_[d] - one_way);
    }
    return links;
  }

  std::array<std::uint16_t, most_dimensions> sizes_{};
  std::array<std::uint16_t, most_dimensions> first_of_{};  // port of each dimension
  std::vector<std::uint64_t> coordinates_;                 // of each switch, a byte for each dimension
  unsigned dimensions_, nodes_per_switch_, ports_;
  unsigned rings_ = 0;     // dimensions of more than one position
  unsigned dateline_ = 0;  // 1 if a ring needs it
};

torus::torus(const parameters& given) {
  const topology_reader read("torus", torus_keys, given);
  const std::vector<unsigned> sizes = read.list("dimensions");
  read.require(sizes.size() <= most_dimensions, "dimensions", "have at most this many numbers:", most_dimensions);
  nodes_per_switch_ = read.one("nodes_per_switch");
  dimensions_ = static_cast<unsigned>(sizes.size());
  ports_ = nodes_per_switch_;
  std::int64_t count = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    sizes_[d] = static_cast<std::uint16_t>(sizes[d]);
    first_of_[d] = static_cast<std::uint16_t>(ports_);
    ports_ += std::min(sizes[d] - 1, 2U);
    rings_ += sizes[d] > 1 ? 1 : 0;
    if (sizes[d] > 3) dateline_ = 1;
    count = std::min<std::int64_t>(count * sizes[d], most_nodes + 1);
  }
  read.require(count * nodes_per_switch_ <= most_nodes, "dimensions", "keep the number of nodes at or below",
               most_nodes);
  coordinates_ = grid_coordinates(std::span<const unsigned>(sizes));
}

endpoint torus::peer(std::uint32_t s, unsigned port) const {
  if (port < nodes_per_switch_) return {s * nodes_per_switch_ + port, 0, true};
  std::uint32_t stride = 1;
  unsigned d = 0;
  while (d + 1 < dimensions_ && port >= first_of_[d + 1]) stride *= sizes_[d++];
  const unsigned mine = coordinate(coordinates_[s], d);
  const bool downward = port != first_of_[d];
  const unsigned other = (mine + (downward ? sizes_[d] - 1U : 1U)) % sizes_[d];
  const unsigned back = sizes_[d] == 2 || downward ? first_of_[d] : first_of_[d] + 1U;
  return {s + other * stride - mine * stride, static_cast<std::uint16_t>(back), false};
}

std::uint64_t torus::bisection() const {
  return least_middle_cut(std::span(sizes_).first(dimensions_), [&](std::size_t d) {
    return std::uint64_t{switches() / sizes_[d]} * (sizes_[d] == 2 ? 1 : 2);
  });
}

}  // namespace

topology_entry torus_entry() {
  return make_entry<torus>("torus", "a grid of switches whose lines are rings", torus_keys, {{"dimensions", {4, 3, 2}}},
                           {{"torus-4608",
                             "4,608 nodes: 16 x 16 x 18 switches of one node, radix 7",
                             {{"dimensions", {16, 16, 18}}, {"nodes_per_switch", {1}}}}});
}

}  // namespace lull::netsim
