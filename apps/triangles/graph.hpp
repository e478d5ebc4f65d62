// An undirected graph distributed over all PEs: vertex v is on PE v modulo their number, with those of its neighbours
// that are above it. A vertex is above another if it has more neighbours, or equally many and a larger number.
// Therefore no vertex has many others above it, and each triangle has one lowest vertex.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "irregular/reduction.hpp"
#include "triangles/edge_source.hpp"

namespace triangles {

class graph {
 public:
  // Contains each edge once, without loops. Collective; throws what `edges` throws.
  graph(edge_source& edges, irregular::reduction& all);

  [[nodiscard]] std::uint64_t vertices() const { return vertices_; }  // of the whole graph
  [[nodiscard]] std::uint64_t edges() const { return edges_; }
  [[nodiscard]] std::size_t vertices_here() const { return begins_.size() - 1; }

  // The vertices above local vertex `vertex`, in ascending order.
  [[nodiscard]] std::span<const std::uint32_t> above(std::size_t vertex) const {
    return std::span(above_).subspan(begins_[vertex], begins_[vertex + 1] - begins_[vertex]);
  }
  [[nodiscard]] std::size_t edges_here() const { return above_.size(); }

 private:
  void keep_those_above(std::span<const std::uint64_t> pairs);

  std::uint64_t vertices_ = 0, edges_ = 0;
  std::vector<std::size_t> begins_;
  std::vector<std::uint32_t> above_;
};

// The location of a vertex.
struct home {
  std::uint32_t pe;
  std::uint32_t number;  // among the vertices on that PE
};
[[nodiscard]] home home_of(std::uint32_t vertex, std::uint32_t pes);

}  // namespace triangles
