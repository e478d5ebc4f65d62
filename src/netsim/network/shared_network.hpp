// What the parts (parts.hpp) of one simulation share. Records of a switch, its links and its nodes are written by the part
// of the switch only.
#pragma once
#include <cstdint>
#include <vector>

#include "netsim/network/message_store.hpp"
#include "netsim/network/network_state.hpp"
#include "netsim/network/parts.hpp"
#include "netsim/network/traffic.hpp"
#include "netsim/simulation.hpp"
#include "netsim/topology.hpp"

namespace lull::netsim {

// A node's interface: cuts messages into packets, one message at a time.
struct alignas(64) injector {
  route_state path{};
  std::uint32_t message = nowhere;
  std::uint32_t unsent = 0;
};

template <topology_shape T>
struct shared_network {
  shared_network(const T& network, const simulation& wanted, bool with_channels, unsigned part_count,
                 const progress& shown)
      : topology(network),
        asked(wanted),
        parts(part_count),
        links(network, wanted, with_channels,
              [&shown] {
                if (shown) (void)shown({0, 0, 0, 0});
              }),
        jobs(wanted, network.nodes()),
        messages(part_count),
        injectors(network.nodes()),
        part_of(part_count == 1 ? std::vector<std::uint8_t>(network.switches()) : divide(network, part_count)),
        last_window(wanted.end >> links.window_bits()),
        mail(std::size_t{2} * part_count * part_count) {
    if (parts > 1) links.divide(part_of);
    // Seeds are drawn, since generators with seeds at equal distances would draw the same numbers.
    generator seeds(wanted.seed);
    random.reserve(network.switches());
    for (std::uint32_t s = 0; s < network.switches(); ++s) random.emplace_back(seeds());
  }
  // Parts write into one of two sets of mailboxes while they may still read the other.
  [[nodiscard]] mailbox& mail_of(unsigned set, unsigned from, unsigned to) {
    return mail[(std::size_t{set} * parts + from) * parts + to];
  }

  const T& topology;
  const simulation& asked;
  unsigned parts;
  network_state links;
  traffic jobs;
  message_store messages;
  std::vector<injector> injectors;
  std::vector<generator> random;      // by switch, so that the draws of one do not depend on the others
  std::vector<std::uint8_t> part_of;  // of each switch
  std::int64_t last_window;           // that is simulated
  std::vector<mailbox> mail;
};

}  // namespace lull::netsim
