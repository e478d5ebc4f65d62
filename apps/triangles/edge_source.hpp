// The source of a graph's edges: a file, or a rule.
#pragma once
#include <cstdint>
#include <functional>

#include "irregular/reduction.hpp"

namespace triangles {

struct edge {
  std::uint32_t u, v;
};

constexpr std::uint64_t most_vertices = 0xffff'ffff;

class edge_source {
 public:
  edge_source() = default;
  virtual ~edge_source() = default;
  edge_source(const edge_source&) = delete;
  edge_source& operator=(const edge_source&) = delete;

  // Calls `found` with the edges known to this PE, in any direction and with repetitions. Not collective.
  virtual void read(const std::function<void(const edge&)>& found) = 0;

  // The number of vertices of the whole graph. Collective, once after read().
  [[nodiscard]] virtual std::uint64_t vertices(irregular::reduction& all) = 0;
};

}  // namespace triangles
