// What a topology is: switches, nodes, the cables between them, and the path a packet takes. One file each in
// topology/.
//
// A topology is a plain class with the members of the concept below. It is immutable once built, and knows nothing of
// queues, time or power: the engine asks it, at each switch, for the next port. `route` is inlined into the engine's
// loop, so it must be short: no allocation, no division by a variable, no virtual call.
//
// Promises: cables are bidirectional (peer of peer is oneself); every node is at one switch; `route` never leads a
// packet twice over the same channel of a link, and the graph of (link, channel) dependencies of all its routes has no
// cycle, whatever the algorithm: this excludes deadlock. tests/unit/netsim checks all three for every topology.
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

// Where a cable ends: at a port of a switch, or at a node.
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
  { t.ports(n) } -> std::same_as<unsigned>;                 // of switch n, those to nodes included
  { t.peer(n, port) } -> std::same_as<endpoint>;            // of switch n
  { t.attach_point(n) } -> std::same_as<endpoint>;                  // switch and port of node n
  { t.channels(a) } -> std::same_as<unsigned>;              // classes of virtual channels the algorithm needs
  { T::most_links } -> std::convertible_to<unsigned>;       // a constant: no path crosses more, the links of both nodes included
  { t.start(n, packet, ports) };                            // once, at the packet's first switch, unless it is the last
  { t.route(n, packet, ports) } -> std::same_as<hop>;       // at switch n, which is not packet.to_switch
};
// clang-format on

// Parameters of a topology as the user gave them: each a whole number or a list of them.
using parameters = std::map<std::string, std::vector<std::int64_t>>;

// The shape of a topology without its routing: what `lull topology` prints and draws, and tests measure.
class shape {
 public:
  virtual ~shape() = default;
  [[nodiscard]] virtual std::uint32_t nodes() const = 0;
  [[nodiscard]] virtual std::uint32_t switches() const = 0;
  [[nodiscard]] virtual unsigned ports(std::uint32_t of_switch) const = 0;
  [[nodiscard]] virtual endpoint peer(std::uint32_t of_switch, unsigned port) const = 0;
  [[nodiscard]] virtual endpoint attach_point(std::uint32_t node) const = 0;
  [[nodiscard]] virtual unsigned channels(algorithm a) const = 0;
  // A path crosses at most so many links, those of the two nodes included, whatever the parameters.
  [[nodiscard]] virtual unsigned most_links() const = 0;
  // Links (one direction) that a cut of the nodes into two equal halves severs, at the cut the topology is known for.
  [[nodiscard]] virtual std::uint64_t bisection() const = 0;
  // The whole path of one packet: the ports taken, with their channels. `busy` says how long a packet would wait at a
  // port of a switch; without it all queues are empty.
  using waits = std::function<picoseconds(std::uint32_t of_switch, unsigned port)>;
  [[nodiscard]] virtual std::vector<hop> path(std::uint32_t from_node, std::uint32_t to_node, algorithm a,
                                              std::uint64_t seed, const waits& busy = {}) const = 0;
};

struct simulation;
struct result;
using progress = std::function<bool(const struct state_of_run&)>;

// What every topology keeps to: so many nodes, numbered in 32 bits with room to spare, and ports, numbered in 16.
inline constexpr std::int64_t most_nodes = 1 << 24;
inline constexpr std::int64_t most_ports = 4096;

// A named set of parameters of a topology, e.g. of a published network.
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
  parameters small;  // of a network that fits a drawing; tests take it too
  std::vector<preset> presets;
  std::unique_ptr<shape> (*build)(const netsim::parameters&);
  result (*simulate)(const simulation&, const progress&);
};

[[nodiscard]] std::span<const topology_entry> all_topologies();

// Every preset, with the topology it is of.
struct preset_of {
  const preset* is;
  const topology_entry* of;
};
[[nodiscard]] std::vector<preset_of> all_presets();

// Its network without a simulation. Throws lull::error where memory does not suffice.
[[nodiscard]] std::unique_ptr<shape> build(const topology_entry& of, const netsim::parameters& with);

// Throws lull::usage_error naming the nearest known topology.
[[nodiscard]] const topology_entry& find_topology(const std::string& name);

// Reads the parameters a user gave for one topology, or their defaults. Every failure is a lull::usage_error that names
// the key, says what was found and what is allowed. A key that the topology does not declare was refused before.
class topology_reader {
 public:
  topology_reader(const char* topology, std::span<const key> keys, const parameters& given)
      : topology_(topology), keys_(keys), given_(given) {}
  // A whole number, in the range its key declares, and at most `most`.
  [[nodiscard]] unsigned one(const char* name, std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  // A list of them; a single number stands for a list of `same` equal ones.
  [[nodiscard]] std::vector<unsigned> list(const char* name, std::size_t same = 1) const;
  // "topology.NAME must RULE BOUND" unless it holds.
  void require(bool holds, const char* name, const char* rule, std::int64_t bound) const;
  void require(bool holds, const char* name, const std::string& rule) const;

 private:
  const char* topology_;
  std::span<const key> keys_;
  const parameters& given_;
};

}  // namespace lull::netsim
