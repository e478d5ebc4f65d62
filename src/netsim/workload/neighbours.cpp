// Every process sends to those one step away in each dimension of a grid whose ends meet, in turn; in a dimension of 2
// there is one such, of 1 none.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "netsim/counted.hpp"
#include "netsim/workload/pattern.hpp"

namespace lull::netsim {
namespace {

// As cubic a grid of `size` processes as there is: the factors nearest to the root, the largest first.
std::vector<std::int64_t> cubic_grid(std::int64_t size, unsigned dimensions) {
  if (dimensions == 1) return {size};
  auto side = static_cast<std::int64_t>(std::round(std::pow(size, 1.0 / dimensions)));
  while (size % side != 0) --side;
  std::vector<std::int64_t> rest = cubic_grid(size / side, dimensions - 1);
  rest.push_back(side);
  std::ranges::sort(rest, std::greater{});
  return rest;
}

template <unsigned dimensions>
class neighbours : public every_process_sends {
 public:
  neighbours(const job_setup& setup, const reader& from, generator& /*random*/) {
    std::vector<std::int64_t> grid = from.numbers("grid");
    setup.require(grid.empty() || grid.size() == dimensions, "grid",
                  fmt::format("has {}", counted(grid.size(), "dimension")),
                  fmt::format("{} has {}", setup.job().pattern, dimensions));
    if (grid.empty()) grid = cubic_grid(setup.size(), dimensions);
    const std::int64_t held = std::accumulate(grid.begin(), grid.end(), std::int64_t{1}, std::multiplies<>());
    setup.require(held == setup.size(), "grid",
                  fmt::format("holds {}, and the job has {}",
                              counted(static_cast<std::uint64_t>(held), "process", "processes"), setup.size()),
                  "let them agree");
    for (std::size_t d = 0; d < dimensions; ++d) sides_[d] = static_cast<std::uint32_t>(grid[d]);
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

key grid_key() {
  return {.name = "grid",
          .meaning = "processes in each dimension",
          .otherwise = "as cubic as can be",
          .least = 1,
          .most = most_number,
          .list = true};
}

}  // namespace

workload_entry neighbours_2d_entry() {
  return pattern_entry<neighbours<2>>("neighbours-2d", "to those beside it in a plane, in turn", {grid_key()});
}
workload_entry neighbours_3d_entry() {
  return pattern_entry<neighbours<3>>("neighbours-3d", "to those beside it in a cube, in turn", {grid_key()});
}

}  // namespace lull::netsim
