// A graph of any size with a known number of triangles: each vertex of a ring is joined to the nearest `reach` vertices
// on both sides, and the vertices have shuffled names.
#pragma once
#include <cstdint>
#include <functional>

#include "triangles/edge_source.hpp"

namespace triangles {

class ring final : public edge_source {
 public:
  // There are more than 3 · reach vertices, so that no triangle goes around the ring.
  ring(std::uint64_t vertices, std::uint64_t reach, std::uint64_t seed);

  void read(const std::function<void(const edge&)>& found) override;
  [[nodiscard]] std::uint64_t vertices(irregular::reduction&) override { return vertices_; }

  [[nodiscard]] std::uint64_t triangles() const { return vertices_ * (reach_ * (reach_ - 1) / 2); }

 private:
  [[nodiscard]] std::uint32_t name_of(std::uint64_t vertex) const;
  std::uint64_t vertices_, reach_, seed_;
  unsigned half_bits_ = 1;
};

}  // namespace triangles
