// The edges of each PE in a hash table in symmetric memory, so that every PE can look them up: the owner in its own
// memory, others by gets.
#pragma once
#include <shmem.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "irregular/reduction.hpp"
#include "irregular/scramble.hpp"
#include "irregular/symmetric.hpp"
#include "triangles/graph.hpp"

namespace triangles {

// Is there an edge from vertex number `from` of the target PE up to the vertex `to`?
struct question {
  std::uint32_t from, to;
};

class edge_table {
 public:
  // Collective. Tables have the same size on all PEs and are at most half full.
  edge_table(const graph& of, irregular::reduction& all)
      : cells_(std::bit_ceil(2 * static_cast<std::size_t>(all.largest(of.edges_here())) + 1), "a table of the edges"),
        mask_(cells_.size() - 1) {
    std::ranges::fill(cells_.all(), empty);
    for (std::uint32_t from = 0; from < of.vertices_here(); ++from)
      for (const std::uint32_t to : of.above(from)) {
        std::size_t at = first_cell({from, to});
        while (cells_[at] != empty) at = (at + 1) & mask_;
        cells_[at] = cell({from, to});
      }
    shmem_barrier_all();
  }

  [[nodiscard]] bool has(const question& asked) const {
    return found(asked, [this](std::size_t at) { return cells_[at]; });
  }
  [[nodiscard]] bool has_on(const question& asked, int pe) const {
    return found(asked, [&](std::size_t at) { return shmem_uint64_g(cells_.data() + at, pe); });
  }

 private:
  static constexpr std::uint64_t empty = ~std::uint64_t{0};  // no edge: there are fewer than 2^32 vertices
  static constexpr std::uint64_t cell(const question& edge) { return std::uint64_t{edge.from} << 32U | edge.to; }
  [[nodiscard]] std::size_t first_cell(const question& edge) const { return irregular::scrambled(cell(edge)) & mask_; }

  template <class Read>
  [[nodiscard]] bool found(const question& asked, const Read& read) const {
    for (std::size_t at = first_cell(asked);; at = (at + 1) & mask_) {
      const std::uint64_t here = read(at);
      if (here == cell(asked)) return true;
      if (here == empty) return false;
    }
  }

  irregular::symmetric_array<std::uint64_t> cells_;
  std::size_t mask_;
};

}  // namespace triangles
