// Metrics of a network, found by walking it, independent of how its topology computes them.
#pragma once
#include <cstdint>

#include "netsim/topology.hpp"

namespace lull::netsim {

struct topology_metrics {
  std::uint32_t nodes;
  std::uint32_t switches;
  unsigned radix;               // most ports of a switch, including those to nodes
  std::uint64_t node_cables;    // between nodes and switches
  std::uint64_t switch_cables;  // between switches; a cable is two links, one in each direction
  unsigned diameter;            // most links of a shortest path between two nodes, including their own two
  double mean_links;            // of a shortest path, over all ordered pairs of different nodes
  std::uint64_t bisection;      // links in one direction, see shape::bisection
};

// Runs a breadth-first search from every switch that has nodes: takes no noticeable time for some ten thousand switches
// a few links apart, and a minute for a torus of a hundred thousand.
[[nodiscard]] topology_metrics metrics_of(const shape& network);

}  // namespace lull::netsim
