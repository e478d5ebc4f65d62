// What a network is, in numbers, found by walking it: independent of how its topology computes them.
#pragma once
#include <cstdint>

#include "netsim/topology.hpp"

namespace lull::netsim {

struct topology_metrics {
  std::uint32_t nodes;
  std::uint32_t switches;
  unsigned radix;               // most ports of a switch, those to nodes included
  std::uint64_t node_cables;    // between nodes and switches
  std::uint64_t switch_cables;  // between switches; a cable is two links, one in each direction
  unsigned diameter;            // most links of a shortest path between two nodes, their own two included
  double mean_links;            // of a shortest path, over all ordered pairs of different nodes
  std::uint64_t bisection;      // links in one direction, see shape::bisection
};

// Breadth-first from every switch that has nodes: at once for some ten thousand switches a few links apart, a minute
// for a torus of a hundred thousand.
[[nodiscard]] topology_metrics metrics_of(const shape& network);

}  // namespace lull::netsim
