#include "triangles/graph.hpp"

#include <shmem.h>

#include <algorithm>
#include <lull/aggregate.hpp>

namespace triangles {
namespace {

constexpr std::uint64_t pair_of(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32U | low; }
constexpr std::uint32_t high_of(std::uint64_t pair) { return static_cast<std::uint32_t>(pair >> 32U); }
constexpr std::uint32_t low_of(std::uint64_t pair) { return static_cast<std::uint32_t>(pair); }

std::uint32_t all_pes() { return static_cast<std::uint32_t>(shmem_n_pes()); }

}  // namespace

home home_of(std::uint32_t vertex, std::uint32_t pes) { return {vertex % pes, vertex / pes}; }

graph::graph(edge_source& edges, irregular::reduction& all) {
  const std::uint32_t pes = all_pes();
  std::vector<std::uint64_t> pairs;  // the number of a vertex here, a neighbour
  {
    lull::aggregator ends{lull::items_of<std::uint64_t>{}, [&pairs](std::uint64_t pair) { pairs.push_back(pair); }};
    edges.read([&](const edge& e) {
      if (e.u == e.v) return;
      const home u = home_of(e.u, pes), v = home_of(e.v, pes);
      ends.push(pair_of(u.number, e.v), static_cast<int>(u.pe));
      ends.push(pair_of(v.number, e.u), static_cast<int>(v.pe));
    });
    ends.done();  // before any other collective call: PEs that wait there handle no items
  }
  vertices_ = edges.vertices(all);
  std::ranges::sort(pairs);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  edges_ = all.sum(pairs.size()) / 2;
  keep_those_above(pairs);
}

void graph::keep_those_above(std::span<const std::uint64_t> pairs) {
  const std::uint32_t pes = all_pes(), me = static_cast<std::uint32_t>(shmem_my_pe());
  const std::size_t here = static_cast<std::size_t>((vertices_ + pes - 1 - me) / pes);
  std::vector<std::uint32_t> degrees(here);
  for (const std::uint64_t pair : pairs) ++degrees[high_of(pair)];

  std::vector<std::uint32_t> of_neighbours(pairs.size());
  {
    lull::gatherer asked{lull::items_of<std::uint32_t>{}, [&](std::uint32_t vertex) { return degrees[vertex]; }};
    asked.into(of_neighbours);
    for (const std::uint64_t pair : pairs) {
      const home neighbour = home_of(low_of(pair), pes);
      asked.get(neighbour.number, static_cast<int>(neighbour.pe));
    }
    asked.done();
  }

  std::vector<std::uint64_t> kept;  // for one vertex: degree and number of those above it
  begins_.push_back(0);
  std::size_t i = 0;
  for (std::uint32_t vertex = 0; vertex < here; ++vertex) {
    const std::uint64_t rank = pair_of(degrees[vertex], vertex * pes + me);
    kept.clear();
    for (; i < pairs.size() && high_of(pairs[i]) == vertex; ++i) {
      const std::uint64_t of_neighbour = pair_of(of_neighbours[i], low_of(pairs[i]));
      if (of_neighbour > rank) kept.push_back(of_neighbour);
    }
    std::ranges::sort(kept);
    for (const std::uint64_t one : kept) above_.push_back(low_of(one));
    begins_.push_back(above_.size());
  }
}

}  // namespace triangles
