// Processes in a grid, as applications lay them out: their number along each side, and the position of each rank.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "netsim/keys/key.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {

using triple = std::array<std::uint32_t, 3>;  // along x, y, z
using offset = std::array<int, 3>;

// The most cubic grid of `size` processes: factors as close to the root as possible, the largest first.
[[nodiscard]] std::vector<std::int64_t> cubic_grid(std::int64_t size, unsigned dimensions);

// The key with which a user sets the sides, and its value, by default cubic_grid(). Errors name the key.
[[nodiscard]] key grid_key();
[[nodiscard]] std::vector<std::uint32_t> grid_of(const job_setup& setup, const reader& from, unsigned dimensions);
[[nodiscard]] triple grid_of_three(const job_setup& setup, const reader& from);

// How many of `all` the part at `place` (of `parts`) has; the first parts have one more where the division leaves a
// rest.
[[nodiscard]] constexpr std::uint32_t part_of(std::uint32_t all, std::uint32_t parts, std::uint32_t place) {
  return all / parts + (place < all % parts ? 1 : 0);
}

class process_grid {
 public:
  static process_grid first_fastest(const triple& sides);  // rank = x + px (y + py z)
  static process_grid last_fastest(const triple& sides);   // rank = (x py + y) pz + z
  // Divides the ranks again and again along the side that is longest (the first of equal sides): in halves if its
  // length is even, otherwise by its least factor.
  static process_grid longest_divided(const triple& sides);

  [[nodiscard]] const triple& sides() const { return sides_; }
  [[nodiscard]] triple at(std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t rank_of(triple position) const;
  // The rank at offset `by` from a position; none beyond the edge.
  [[nodiscard]] std::optional<std::uint32_t> beside(const triple& position, const offset& by) const;
  // The same for a grid whose opposite edges are connected.
  [[nodiscard]] std::uint32_t around(const triple& position, const offset& by) const;

 private:
  // A rank is a number whose digits, from the highest on, each refine the position along one side; here the lowest
  // comes first.
  struct digit {
    std::uint32_t along, values;
  };
  process_grid(const triple& sides, std::vector<digit> digits) : sides_(sides), digits_(std::move(digits)) {}

  triple sides_;
  std::vector<digit> digits_;
};

}  // namespace lull::netsim
