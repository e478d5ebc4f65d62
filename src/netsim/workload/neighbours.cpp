// Every process sends in turn to its neighbours in each dimension of a periodic grid; a dimension of length 2 has one
// neighbour, one of length 1 none.
#include <algorithm>
#include <array>

#include "netsim/workload/pattern.hpp"
#include "netsim/workload/process_grid.hpp"

namespace lull::netsim {
namespace {

template <unsigned dimensions>
class neighbours : public every_process_sends {
 public:
  neighbours(const job_setup& setup, const reader& from, generator& /*random*/) {
    std::ranges::copy(grid_of(setup, from, dimensions), sides_.begin());
  }
  [[nodiscard]] std::uint32_t next_partner(drawing& d) const {
    const around all = of(d.rank);
    const std::uint32_t turn = d.turn;
    d.turn = turn + 1 < all.count ? turn + 1 : 0;
    return all.ranks[turn];
  }
  [[nodiscard]] std::vector<std::uint32_t> partners(std::uint32_t rank, std::uint32_t /*iteration*/) const {
    const around all = of(rank);
    return {all.ranks.begin(), all.ranks.begin() + all.count};
  }
  [[nodiscard]] std::uint32_t expected_by(std::uint32_t rank, std::uint32_t /*iteration*/) const {
    return of(rank).count;
  }

 private:
  struct around {
    std::array<std::uint32_t, 2UL * dimensions> ranks;
    unsigned count = 0;
  };
  [[nodiscard]] around of(std::uint32_t rank) const {
    around result;
    std::uint32_t stride = 1;
    for (const std::uint32_t side : sides_) {
      const std::uint32_t at = rank / stride % side;
      const auto moved_to = [&](std::uint32_t to) { return rank - at * stride + to * stride; };
      if (side > 1) result.ranks[result.count++] = moved_to((at + 1) % side);
      if (side > 2) result.ranks[result.count++] = moved_to((at + side - 1) % side);
      stride *= side;
    }
    return result;
  }

  std::array<std::uint32_t, dimensions> sides_{};  // processes per dimension
};

}  // namespace

workload_entry neighbours_2d_entry() {
  return pattern_entry<neighbours<2>>("neighbours-2d", "to the neighbours in a plane, in rotation", {grid_key()});
}
workload_entry neighbours_3d_entry() {
  return pattern_entry<neighbours<3>>("neighbours-3d", "to the neighbours in a cube, in rotation", {grid_key()});
}

}  // namespace lull::netsim
