#include "netsim/topology/topology_metrics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <tuple>
#include <vector>

namespace lull::netsim {
namespace {

// The neighbours of each switch, each listed once however many cables lead to it.
struct neighbourhoods {
  std::vector<std::size_t> first;  // of each switch; one more at the end
  std::vector<std::uint32_t> switches;
};

neighbourhoods neighbourhoods_of(const shape& network) {
  neighbourhoods result;
  std::vector<std::uint32_t> around;
  for (std::uint32_t s = 0; s < network.switches(); ++s) {
    around.clear();
    for (unsigned p = 0; p < network.ports(s); ++p) {
      const endpoint other = network.peer(s, p);
      if (!other.node) around.push_back(other.id);
    }
    std::ranges::sort(around);
    result.first.push_back(result.switches.size());
    result.switches.insert(result.switches.end(), around.begin(), std::unique(around.begin(), around.end()));
  }
  result.first.push_back(result.switches.size());
  return result;
}

// Searches from many switches at once, one bit per search (Then et al., "The more the merrier", 2014): networks are a
// few links wide, so most searches reach the same switches at the same time.
using searches = std::array<std::uint64_t, 8>;
constexpr std::size_t at_once = 64 * std::tuple_size_v<searches>;

struct lengths {
  std::uint64_t pairs = 0;  // of a node at a source and a reached one at another switch
  std::uint64_t links = 0;  // total between their switches
  unsigned most = 0;
};

// From `sources` (at most `at_once`), which have `nodes` nodes each, to all switches, which have `nodes_of`.
lengths search(const neighbourhoods& around, const std::vector<std::uint32_t>& nodes_of,
               const std::vector<std::uint32_t>& sources, std::uint64_t nodes) {
  const std::size_t switches = nodes_of.size();
  std::vector<searches> seen(switches), here(switches), next(switches);
  std::vector<std::uint8_t> is_here(switches), is_next(switches);  // whether any search is; small enough for the cache
  for (std::size_t i = 0; i < sources.size(); ++i) {
    here[sources[i]][i / 64] |= std::uint64_t{1} << i % 64;
    seen[sources[i]] = here[sources[i]];
    is_here[sources[i]] = 1;
  }
  lengths result;
  bool any = true;
  for (unsigned links = 1; any; ++links) {
    for (std::size_t s = 0; s < switches; ++s) {
      if (is_here[s] == 0) continue;
      for (std::size_t n = around.first[s]; n < around.first[s + 1]; ++n) {
        const std::uint32_t other = around.switches[n];
        for (std::size_t w = 0; w < here[s].size(); ++w) next[other][w] |= here[s][w];
        is_next[other] = 1;
      }
    }
    any = false;
    is_here.assign(switches, 0);
    for (std::size_t s = 0; s < switches; ++s) {
      if (is_next[s] == 0) continue;
      std::uint64_t count = 0;
      for (std::size_t w = 0; w < seen[s].size(); ++w) {
        here[s][w] = next[s][w] & ~seen[s][w];
        seen[s][w] |= here[s][w];
        count += static_cast<unsigned>(std::popcount(here[s][w]));
      }
      next[s] = {};
      is_next[s] = 0;
      if (count == 0) continue;
      is_here[s] = 1;
      any = true;
      const std::uint64_t pairs = count * nodes * nodes_of[s];
      result.pairs += pairs;
      result.links += pairs * links;
      if (pairs > 0) result.most = std::max(result.most, links);
    }
  }
  return result;
}

}  // namespace

topology_metrics metrics_of(const shape& network) {
  topology_metrics result{.nodes = network.nodes(),
                          .switches = network.switches(),
                          .radix = 0,
                          .node_cables = 0,
                          .switch_cables = 0,
                          .diameter = 0,
                          .mean_links = 0,
                          .bisection = network.bisection()};
  std::vector<std::uint32_t> nodes_of(network.switches());
  std::uint64_t ends = 0;
  for (std::uint32_t s = 0; s < network.switches(); ++s) {
    const unsigned ports = network.ports(s);
    result.radix = std::max(result.radix, ports);
    for (unsigned p = 0; p < ports; ++p) nodes_of[s] += network.peer(s, p).node ? 1 : 0;
    ends += ports - nodes_of[s];
  }
  for (const std::uint32_t n : nodes_of) result.node_cables += n;
  result.switch_cables = ends / 2;

  const neighbourhoods around = neighbourhoods_of(network);
  std::vector<std::uint32_t> sources;  // by their number of nodes: searches that run together have equal weight
  for (std::uint32_t s = 0; s < network.switches(); ++s) {
    if (nodes_of[s] > 0) sources.push_back(s);
  }
  std::ranges::stable_sort(sources, {}, [&](std::uint32_t s) { return nodes_of[s]; });
  lengths all;
  for (std::size_t i = 0; i < sources.size();) {
    const std::uint64_t nodes = nodes_of[sources[i]];
    std::vector<std::uint32_t> batch;
    while (i < sources.size() && batch.size() < at_once && nodes_of[sources[i]] == nodes) batch.push_back(sources[i++]);
    const lengths found = search(around, nodes_of, batch, nodes);
    all.pairs += found.pairs;
    all.links += found.links;
    all.most = std::max(all.most, found.most);
  }
  // The nodes of one switch are two links apart, their own; all other pairs add the links between switches.
  std::uint64_t at_one_switch = 0;
  for (const std::uint64_t n : nodes_of) at_one_switch += n * (n > 0 ? n - 1 : 0);
  const std::uint64_t pairs = all.pairs + at_one_switch;
  if (pairs > 0) {
    result.diameter = 2 + all.most;
    result.mean_links = 2 + static_cast<double>(all.links) / static_cast<double>(pairs);
  }
  return result;
}

}  // namespace lull::netsim
