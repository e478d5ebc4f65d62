// Shared by grids of switches (hyperx.cpp and torus.cpp): positions as packed coordinates, and the cut through the
// middle.
//
// A coordinate takes one byte per dimension, the first one lowest, so that two positions are compared in one step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lull::netsim {

// The coordinates of each switch of a grid; the first dimension runs fastest. At most 8 dimensions of at most 256.
template <class Size>
[[nodiscard]] std::vector<std::uint64_t> grid_coordinates(std::span<const Size> sizes) {
  std::size_t count = 1;
  for (const Size size : sizes) count *= size;
  std::vector<std::uint64_t> result(count);
  for (std::size_t s = 0; s < count; ++s) {
    std::size_t rest = s;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      result[s] |= std::uint64_t{rest % sizes[d]} << 8U * d;
      rest /= sizes[d];
    }
  }
  return result;
}

// The fewest links that a cut through the middle of a dimension severs. A dimension of odd length is cut next to its
// middle, and only if none is even; a dimension with a single position is not cut.
template <class Size, class Severed>
[[nodiscard]] std::uint64_t least_middle_cut(std::span<const Size> sizes, Severed severed_in) {
  std::uint64_t least = 0;
  bool least_is_even = false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    const bool even = sizes[d] % 2 == 0;
    const std::uint64_t severed = severed_in(d);
    if (least == 0 || (even == least_is_even ? severed < least : even)) {
      least = severed;
      least_is_even = even;
    }
  }
  return least;
}

}  // namespace lull::netsim
