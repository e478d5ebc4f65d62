// HyperX: switches in a grid of any number of dimensions, each cabled to all other switches in each of its lines of the
// grid (Ahn, Binkert, Davis, McLaren and Schreiber 2009).
//
// A switch has a coordinate in each dimension. One link changes one coordinate to any other value, so a shortest path
// takes one link for each coordinate that differs. Ports: those to nodes first, then by dimension and by the coordinate
// of the other end, parallel cables next to each other.
//
// Channels. `minimal` takes the dimensions in order: no cycle, one channel. `valiant` does so twice, with a channel for
// each part. `minimal-random` and the adaptive algorithms take the dimensions in any order; the channel is the number
// of links taken so far, which only grows: as many channels as dimensions. An adaptive detour takes the dimensions in
// order on channel 0 to its intermediate switch, and from there in any order on channels 1, 2, ...: one channel more.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "netsim/topology/entry.hpp"
#include "netsim/topology/grid.hpp"

namespace lull::netsim {
namespace {

const std::vector<key> hyperx_keys{
    {.name = "dimensions",
     .meaning = "number of switches in a line of each dimension",
     .by_default = list{8, 8, 6},
     .least = 1,
     .most = 256,
     .list = true},
    {.name = "cables",
     .meaning = "number of cables between two switches of a line, for each dimension or one number for all",
     .by_default = list{1},
     .least = 1,
     .most = 64,
     .list = true},
    {.name = "nodes_per_switch", .meaning = "number of nodes at a switch", .by_default = 12, .least = 1, .most = 1024},
};

constexpr std::size_t most_dimensions = 8;  // a byte of 64 bits each
constexpr std::uint64_t low_bits = 0x0101010101010101U;

// How many bytes are not zero.
[[nodiscard]] constexpr unsigned bytes_set(std::uint64_t x) {
  const std::uint64_t marks = (((x & 0x7f * low_bits) + 0x7f * low_bits) | x) >> 7U & low_bits;
  return static_cast<unsigned>(marks * low_bits >> 56U);
}

class hyperx {
 public:
  // One link in each dimension to the intermediate switch, one in each from there, and those of the nodes.
  static constexpr unsigned most_links = 2 * most_dimensions + 2;

  explicit hyperx(const parameters& given);

  [[nodiscard]] std::uint32_t nodes() const { return switches() * nodes_per_switch_; }
  [[nodiscard]] std::uint32_t switches() const { return static_cast<std::uint32_t>(coordinates_.size()); }
  [[nodiscard]] unsigned ports(std::uint32_t /*any*/) const { return ports_; }
  [[nodiscard]] endpoint peer(std::uint32_t s, unsigned port) const;
  [[nodiscard]] endpoint attach_point(std::uint32_t node) const {
    return {node / nodes_per_switch_, static_cast<std::uint16_t>(node % nodes_per_switch_), false};
  }
  [[nodiscard]] unsigned channels(algorithm a) const;
  // A cut through the middle of the dimension in which it severs the fewest links; a dimension of odd length is cut
  // next to its middle, and only if none is even.
  [[nodiscard]] std::uint64_t bisection() const;

  void start(std::uint32_t at, route_state& packet, const chooser& ports) const {
    if (ports.how() != algorithm::valiant && !ports.adapts()) return;
    const std::uint64_t here = coordinates_[at];
    const std::uint64_t there = coordinates_[packet.to_switch];
    unsigned port = 0;
    if (ports.adapts()) {
      port = freest_port(here, there, ports);
      packet.decided = static_cast<std::uint16_t>(port);
      // No detour is better, not even one that takes no time.
      if (!ports.prefers_detour(port, most_dimensions, port, 0)) return;
    }
    const std::uint32_t other = ports.random().below(switches());
    if (other == at || other == packet.to_switch) return;
    if (ports.how() == algorithm::valiant ||
        prefers_detour(port, here, coordinates_[other], there, packet.key, ports)) {
      packet.via = other;
      packet.decided = no_port;
    }
  }

  [[nodiscard]] hop route(std::uint32_t at, route_state& packet, const chooser& ports) const {
    if (packet.via == at) {
      packet.via = nowhere;
      packet.stage = 1;
    } else if (packet.decided != no_port) {
      return {std::exchange(packet.decided, no_port), packet.stage++};
    }
    const std::uint64_t here = coordinates_[at];
    if (packet.via != nowhere) return {first_port(here, coordinates_[packet.via], packet.key, ports), 0};
    const std::uint64_t there = coordinates_[packet.to_switch];
    switch (ports.how()) {
      case algorithm::minimal:
      case algorithm::valiant:
        return {first_port(here, there, packet.key, ports), packet.stage};
      case algorithm::minimal_random:
        return {drawn_port(here, there, packet.key, ports), packet.stage++};
      case algorithm::adaptive:
      case algorithm::power_aware:
        break;
    }
    return {freest_port(here, there, ports), packet.stage++};
  }

 private:
  // The first port to the switch of this line that has the same coordinate as `there`.
  [[nodiscard]] unsigned first_in(unsigned dimension, std::uint64_t here, std::uint64_t there) const {
    const unsigned mine = here >> 8U * dimension & 0xffU;
    const unsigned other = there >> 8U * dimension & 0xffU;
    return first_of_[dimension] + (other - (other > mine ? 1 : 0)) * cables_[dimension];
  }
  [[nodiscard]] std::uint16_t port_in(unsigned dimension, std::uint64_t here, std::uint64_t there, std::uint32_t key,
                                      const chooser& ports) const {
    return static_cast<std::uint16_t>(ports.among(first_in(dimension, here, there), cables_[dimension], key));
  }
  [[nodiscard]] static unsigned lowest(std::uint64_t difference) {
    return static_cast<unsigned>(std::countr_zero(difference)) / 8U;
  }
  [[nodiscard]] static std::uint64_t without(std::uint64_t difference, unsigned dimension) {
    return difference & ~(std::uint64_t{0xff} << (8U * dimension & 63U));
  }
  // The port in the first dimension that differs.
  [[nodiscard]] std::uint16_t first_port(std::uint64_t here, std::uint64_t there, std::uint32_t key,
                                         const chooser& ports) const {
    return port_in(lowest(here ^ there), here, there, key, ports);
  }
  // The port in a dimension drawn from those that differ.
  [[nodiscard]] std::uint16_t drawn_port(std::uint64_t here, std::uint64_t there, std::uint32_t key,
                                         const chooser& ports) const {
    std::uint64_t difference = here ^ there;
    const unsigned differing = bytes_set(difference);
    if (differing > 1) {
      for (unsigned skipped = ports.random().below(differing); skipped > 0; --skipped) {
        difference = without(difference, lowest(difference));
      }
    }
    return port_in(lowest(difference), here, there, key, ports);
  }
  // The port with the shortest wait of all dimensions that differ. `adaptive` begins with a random dimension and takes
  // the first idle port; `power-aware` takes the first of the best, so as not to wake links in every dimension.
  [[nodiscard]] std::uint16_t freest_port(std::uint64_t here, std::uint64_t there, const chooser& ports) const {
    const unsigned begin =
        ports.how() == algorithm::adaptive ? ports.random().below(static_cast<unsigned>(sizes_.size())) : 0;
    const std::uint64_t from_begin = ~std::uint64_t{0} << 8U * begin;
    picoseconds least = std::numeric_limits<picoseconds>::max();
    unsigned best = 0;
    for (const std::uint64_t part : {(here ^ there) & from_begin, (here ^ there) & ~from_begin}) {
      for (std::uint64_t left = part; left != 0; left = without(left, lowest(left))) {
        const unsigned first = first_in(lowest(left), here, there);
        for (unsigned port = first; port < first + cables_[lowest(left)]; ++port) {
          const picoseconds wait = ports.wait(port);
          if (wait == 0) return static_cast<std::uint16_t>(port);
          best = wait < least ? port : best;
          least = std::min(least, wait);
        }
      }
    }
    return static_cast<std::uint16_t>(best);
  }
  [[nodiscard]] bool prefers_detour(unsigned port, std::uint64_t here, std::uint64_t middle, std::uint64_t there,
                                    std::uint32_t key, const chooser& ports) const {
    return ports.prefers_detour(port, bytes_set(here ^ there), first_port(here, middle, key, ports),
                                bytes_set(here ^ middle) + bytes_set(middle ^ there));
  }

  std::array<std::uint16_t, most_dimensions> first_of_{};  // port of each dimension
  std::array<std::uint16_t, most_dimensions> cables_{};
  std::vector<std::uint64_t> coordinates_;  // of each switch, a byte for each dimension
  std::vector<unsigned> sizes_;
  unsigned nodes_per_switch_, ports_;
};

hyperx::hyperx(const parameters& given) {
  const topology_reader read("hyperx", hyperx_keys, given);
  sizes_ = read.list("dimensions");
  read.require(sizes_.size() <= most_dimensions, "dimensions", "have at most this many numbers:", most_dimensions);
  const std::vector<unsigned> cables = read.list("cables", sizes_.size());
  read.require(cables.size() == sizes_.size(), "cables",
               "be one number, or one for each dimension:", static_cast<std::int64_t>(sizes_.size()));
  nodes_per_switch_ = read.one("nodes_per_switch");
  ports_ = nodes_per_switch_;
  std::int64_t count = 1;
  for (std::size_t d = 0; d < sizes_.size(); ++d) {
    first_of_[d] = static_cast<std::uint16_t>(ports_);
    cables_[d] = static_cast<std::uint16_t>(cables[d]);
    ports_ += (sizes_[d] - 1) * cables[d];
    count = std::min<std::int64_t>(count * sizes_[d], most_nodes + 1);
  }
  read.require(ports_ <= most_ports, "cables", "keep the ports of a switch at or below", most_ports);
  read.require(count * nodes_per_switch_ <= most_nodes, "dimensions", "keep the number of nodes at or below",
               most_nodes);
  coordinates_ = grid_coordinates(std::span<const unsigned>(sizes_));
}

endpoint hyperx::peer(std::uint32_t s, unsigned port) const {
  if (port < nodes_per_switch_) return {s * nodes_per_switch_ + port, 0, true};
  std::uint32_t stride = 1;
  std::size_t d = 0;
  while (d + 1 < sizes_.size() && port >= first_of_[d + 1]) stride *= sizes_[d++];
  const unsigned mine = coordinates_[s] >> 8U * d & 0xffU;
  const unsigned line = (port - first_of_[d]) / cables_[d];
  const unsigned cable = (port - first_of_[d]) % cables_[d];
  const unsigned other = line + (line >= mine ? 1 : 0);
  const unsigned back = first_of_[d] + (mine - (mine > other ? 1 : 0)) * cables_[d] + cable;
  return {s + other * stride - mine * stride, static_cast<std::uint16_t>(back), false};
}

unsigned hyperx::channels(algorithm a) const {
  const auto lines = static_cast<unsigned>(std::ranges::count_if(sizes_, [](unsigned size) { return size > 1; }));
  switch (a) {
    case algorithm::minimal:
      return 1;
    case algorithm::minimal_random:
      return std::max(lines, 1U);
    case algorithm::valiant:
      return 2;
    case algorithm::adaptive:
    case algorithm::power_aware:
      break;
  }
  return lines + 1;
}

std::uint64_t hyperx::bisection() const {
  return least_middle_cut(std::span<const unsigned>(sizes_), [&](std::size_t d) {
    const std::uint64_t half = sizes_[d] / 2;
    return half * (sizes_[d] - half) * cables_[d] * (switches() / sizes_[d]);
  });
}

}  // namespace

topology_entry hyperx_entry() {
  return make_entry<hyperx>(
      "hyperx", "a grid of switches, with cables between all switches of each line", hyperx_keys,
      {{"dimensions", {3, 3}}},
      {{"hyperx-4608",
        // 1, 2, 3 uses all 48 ports and carries uniform traffic up to 2/3 load by minimal paths; 2, 2, 1 up to 1/2.
        "4,608 nodes: 8 x 8 x 6 switches of 12 nodes, cables 1, 2, 3, radix 48",
        {{"dimensions", {8, 8, 6}}, {"cables", {1, 2, 3}}, {"nodes_per_switch", {12}}}}});
}

}  // namespace lull::netsim
