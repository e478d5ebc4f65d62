// Ranks as places of a grid of up to three dimensions, the first varying fastest, each open at its ends or closed to a
// ring; and how such grids grow with the number of ranks.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lull::netsim {

using grid_offset = std::array<std::int32_t, 3>;

struct rank_grid {
  std::array<std::uint32_t, 3> size{1, 1, 1};
  std::array<bool, 3> closed{};

  [[nodiscard]] std::uint32_t ranks() const { return size[0] * size[1] * size[2]; }
  [[nodiscard]] std::uint32_t dimensions() const { return size[2] > 1 ? 3 : size[1] > 1 ? 2 : 1; }
  [[nodiscard]] std::array<std::uint32_t, 3> place(std::uint32_t rank) const {
    return {rank % size[0], rank / size[0] % size[1], rank / size[0] / size[1]};
  }
  // None beyond an open end.
  [[nodiscard]] std::optional<std::uint32_t> neighbour(std::uint32_t rank, const grid_offset& by) const;
  // The offset from one rank to another; in a closed dimension in the shorter direction, upwards if both are equally
  // long.
  [[nodiscard]] grid_offset between(std::uint32_t from, std::uint32_t to) const;
  // The ranks that differ from this one only in the dimensions whose bits are set in `varying`, in order.
  [[nodiscard]] std::vector<std::uint32_t> section(std::uint32_t rank, unsigned varying) const;

  [[nodiscard]] std::string in_words() const;  // "4 x 8"
  bool operator==(const rank_grid&) const = default;
};

// All grids of this number of ranks with open ends: first those of one dimension, then of two, then of three.
[[nodiscard]] std::vector<rank_grid> grids_of(std::uint32_t ranks);

// The grid of `ranks` that continues two smaller ones: balanced if these are (as by MPI_Dims_create), otherwise longer
// only in the dimension that is longer in the second. None if there is no such grid.
[[nodiscard]] std::optional<rank_grid> continued(const rank_grid& first, const rank_grid& second, std::uint32_t ranks);

}  // namespace lull::netsim
