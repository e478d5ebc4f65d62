#include "triangles/ring.hpp"

#include <shmem.h>

#include <utility>

#include "irregular/scramble.hpp"

namespace triangles {

ring::ring(std::uint64_t vertices, std::uint64_t reach, std::uint64_t seed)
    : vertices_(vertices), reach_(reach), seed_(irregular::scrambled(seed)) {
  while (std::uint64_t{1} << (2 * half_bits_) < vertices) ++half_bits_;
}

void ring::read(const std::function<void(const edge&)>& found) {
  const auto me = static_cast<std::uint64_t>(shmem_my_pe()), pes = static_cast<std::uint64_t>(shmem_n_pes());
  for (std::uint64_t vertex = me; vertex < vertices_; vertex += pes)
    for (std::uint64_t step = 1; step <= reach_; ++step) found({name_of(vertex), name_of((vertex + step) % vertices_)});
}

// A Feistel network permutes the numbers of 2 · half_bits_ bits. A result that is too large is permuted again until it
// is a vertex, which gives a permutation of the vertices.
std::uint32_t ring::name_of(std::uint64_t vertex) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  do {
    std::uint64_t left = vertex >> half_bits_, right = vertex & mask;
    for (std::uint64_t round = 0; round < 4; ++round)
      left = std::exchange(right, left ^ (irregular::scrambled(seed_ + (round << 32U) + right) & mask));
    vertex = left << half_bits_ | right;
  } while (vertex >= vertices_);
  return static_cast<std::uint32_t>(vertex);
}

}  // namespace triangles
