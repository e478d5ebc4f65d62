// The interface of a topology: switches, nodes, the cables between them, and the path of a packet. Each topology is one
// file in topology/.
//
// A topology is a plain class with the members of the concept below. It is immutable once built, and knows nothing of
// queues, time or power: at each switch, the engine calls it to get the next port. The engine's loop inlines `route`,
// so it must be short: no allocation, no division by a variable, no virtual call.
//
// A topology guarantees that cables are bidirectional (the peer of an end's peer is that end); that every node is
// attached to one switch; and that `route` never leads a packet over the same channel of a link twice. For every
// algorithm, the graph of (link, channel) dependencies of all routes has no cycle, which excludes deadlock.
// tests/unit/netsim checks all of this for every topology.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "netsim/keys/key.hpp"
#include "netsim/routing.hpp"

namespace lull::netsim {

// The end of a cable: a port of a switch, or a node.
struct endpoint {
  std::uint32_t id;    // switch or node
  std::uint16_t port;  // of the switch; 0 for a node
  bool node;
  bool operator==(const endpoint&) const = default;
};

// clang-format off
template <class T>
concept topology_shape = requires(const T& t, std::uint32_t n, unsigned port, algorithm a, route_state& packet, const chooser& ports) {
  { t.nodes() } -> std::same_as<std::uint32_t>;
  { t.switches() } -> std::same_as<std::uint32_t>;
  { t.ports(n) } -> std::same_as<unsigned>;                 // of switch n, including those to nodes
  { t.peer(n, port) } -> std::same_as<endpoint>;            // of switch n
  { t.attach_point(n) } -> std::same_as<endpoint>;                  // switch and port of node n
  { t.channels(a) } -> std::same_as<unsigned>;              // classes of virtual channels that the algorithm needs
  { t.bisection() } -> std::same_as<std::uint64_t>;         // links across the middle
  { T::most_links } -> std::convertible_to<unsigned>;       // a constant: most links of a path, with both nodes'
  { t.start(n, packet, ports) };                            // once, at the first switch, unless that is the last
  { t.route(n, packet, ports) } -> std::same_as<hop>;       // at switch n, which is not packet.to_switch
};
// clang-format on

// Parameters of a topology as the user gave them: each is an integer or a list of integers.
using parameters = std::map<std::string, std::vector<std::int64_t>>;

// The shape of a topology without its routing, which `lull topology` prints and draws, and tests measure.
class shape {
 public:
  virtual ~shape() = default;
  [[nodiscard]] virtual std::uint32_t nodes() const = 0;
  [[nodiscard]] virtual std::uint32_t switches() const = 0;
  [[nodiscard]] virtual unsigned ports(std::uint32_t of_switch) const = 0;
  [[nodiscard]] virtual endpoint peer(std::uint32_t of_switch, unsigned port) const = 0;
  [[nodiscard]] virtual endpoint attach_point(std::uint32_t node) const = 0;
  [[nodiscard]] virtual unsigned channels(algorithm a) const = 0;
  // The most links of a path, including those of the two nodes, for any parameters.
  [[nodiscard]] virtual unsigned most_links() const = 0;
  // Links (in one direction) across the cut into two equal halves of the nodes for which the topology is known.
  [[nodiscard]] virtual std::uint64_t bisection() const = 0;
  // The whole path of one packet: the ports that it takes, with their channels. `busy` returns how long a packet would
  // wait at a port of a switch; without it all queues are empty.
  using waits = std::function<picoseconds(std::uint32_t of_switch, unsigned port)>;
  [[nodiscard]] virtual std::vector<hop> path(std::uint32_t from_node, std::uint32_t to_node, algorithm a,
                                              std::uint64_t seed, const waits& busy = {}) const = 0;
};

struct simulation;
struct result;
using progress = std::function<bool(const struct state_of_run&)>;

// Limits of every topology: nodes are numbered in 32 bits with room to spare, and ports in 16.
inline constexpr std::int64_t most_nodes = 1 << 24;
inline constexpr std::int64_t most_ports = 4096;

// A named set of parameters of a topology, e.g. those of a published network.
struct preset {
  const char* name;
  const char* meaning;
  netsim::parameters parameters;
};

// A row of the table of topologies.
struct topology_entry {
  const char* name;
  const char* meaning;
  std::vector<key> keys;
  parameters small;  // of a network that is small enough to draw; tests use it too
  std::vector<preset> presets;
  std::unique_ptr<shape> (*build)(const netsim::parameters&);
  result (*simulate)(const simulation&, const progress&);
};

[[nodiscard]] std::span<const topology_entry> all_topologies();

// Every preset, with its topology.
struct preset_of {
  const preset* is;
  const topology_entry* of;
};
[[nodiscard]] std::vector<preset_of> all_presets();

// Builds its network without a simulation. Throws lull::error if the memory does not suffice.
[[nodiscard]] std::unique_ptr<shape> build(const topology_entry& of, const netsim::parameters& with);

// Throws lull::usage_error that suggests the nearest known topology.
[[nodiscard]] const topology_entry& find_topology(const std::string& name);

// Reads the parameters that a user gave for a topology, or their defaults. Every error is a lull::usage_error that
// names the key, its value and the allowed values. Keys that the topology does not declare have been rejected before.
class topology_reader {
 public:
  topology_reader(const char* topology, std::span<const key> keys, const parameters& given)
      : topology_(topology), keys_(keys), given_(given) {}
  // An integer in the range that its key declares, and at most `most`.
  [[nodiscard]] unsigned one(const char* name, std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  // A list of integers; a single number stands for a list of `same` equal ones.
  [[nodiscard]] std::vector<unsigned> list(const char* name, std::size_t same = 1) const;
  // Throws "topology.NAME must RULE BOUND" if `holds` is false.
  void require(bool holds, const char* name, const char* rule, std::int64_t bound) const;
  void require(bool holds, const char* name, const std::string& rule) const;

 private:
  const char* topology_;
  std::span<const key> keys_;
  const parameters& given_;
};

}  // namespace lull::netsim
