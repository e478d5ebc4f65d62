// Processes in a grid, as applications lay them out: how many there are along each side, which rank is where.
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

// As cubic a grid of `size` processes as there is: the factors nearest to the root, the largest first.
[[nodiscard]] std::vector<std::int64_t> cubic_grid(std::int64_t size, unsigned dimensions);

// The key by which a user says the sides, and what it was given, else cubic_grid(). A mistake names the key.
[[nodiscard]] key grid_key();
[[nodiscard]] std::vector<std::uint32_t> grid_of(const job_setup& setup, const reader& from, unsigned dimensions);
[[nodiscard]] triple grid_of_three(const job_setup& setup, const reader& from);

// The part of `all` that the one of `parts` at `place` has, where the first ones take what does not divide.
[[nodiscard]] constexpr std::uint32_t part_of(std::uint32_t all, std::uint32_t parts, std::uint32_t place) {
  return all / parts + (place < all % parts ? 1 : 0);
}

class process_grid {
 public:
  static process_grid first_fastest(const triple& sides);  // rank = x + px (y + py z)
  static process_grid last_fastest(const triple& sides);   // rank = (x py + y) pz + z
  // Ranks are divided again and again, along the side that is longest then, the first of equals; in halves where it is
  // even, else by its least factor.
  static process_grid longest_divided(const triple& sides);

  [[nodiscard]] const triple& sides() const { return sides_; }
  [[nodiscard]] triple at(std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t rank_of(triple position) const;
  // The rank at `by` from a position; nothing beyond the edge.
  [[nodiscard]] std::optional<std::uint32_t> beside(const triple& position, const offset& by) const;
  // The same where opposite edges meet.
  [[nodiscard]] std::uint32_t around(const triple& position, const offset& by) const;

 private:
  // A rank is a number whose digits, from the highest on, each refine the position along one side; the lowest is first
  // here.
  struct digit {
    std::uint32_t along, values;
  };
  process_grid(const triple& sides, std::vector<digit> digits) : sides_(sides), digits_(std::move(digits)) {}

  triple sides_;
  std::vector<digit> digits_;
};

}  // namespace lull::netsim
