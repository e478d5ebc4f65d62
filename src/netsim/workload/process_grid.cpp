#include "netsim/workload/process_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "netsim/counted.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {

std::vector<std::int64_t> cubic_grid(std::int64_t size, unsigned dimensions) {
  if (dimensions == 1) return {size};
  auto side = static_cast<std::int64_t>(std::round(std::pow(size, 1.0 / dimensions)));
  while (size % side != 0) --side;
  std::vector<std::int64_t> rest = cubic_grid(size / side, dimensions - 1);
  rest.push_back(side);
  std::ranges::sort(rest, std::greater{});
  return rest;
}

key grid_key() {
  return {.name = "grid",
          .meaning = "number of processes in each dimension",
          .otherwise = "as cubic as possible",
          .least = 1,
          .most = most_number,
          .list = true};
}

std::vector<std::uint32_t> grid_of(const job_setup& setup, const reader& from, unsigned dimensions) {
  std::vector<std::int64_t> grid = from.numbers("grid");
  setup.require(grid.empty() || grid.size() == dimensions, "grid",
                fmt::format("has {}", counted(grid.size(), "dimension")),
                fmt::format("{} has {}", setup.job().pattern, dimensions));
  if (grid.empty()) grid = cubic_grid(setup.size(), dimensions);
  const std::int64_t held = std::accumulate(grid.begin(), grid.end(), std::int64_t{1}, std::multiplies<>());
  setup.require(held == setup.size(), "grid",
                fmt::format("has {}, but the job has {}",
                            counted(static_cast<std::uint64_t>(held), "process", "processes"), setup.size()),
                "make the two agree");
  std::vector<std::uint32_t> sides;
  sides.reserve(grid.size());
  for (const std::int64_t side : grid) sides.push_back(static_cast<std::uint32_t>(side));
  return sides;
}

triple grid_of_three(const job_setup& setup, const reader& from) {
  const std::vector<std::uint32_t> sides = grid_of(setup, from, 3);
  return {sides[0], sides[1], sides[2]};
}

process_grid process_grid::first_fastest(const triple& sides) {
  return {sides, {{0, sides[0]}, {1, sides[1]}, {2, sides[2]}}};
}

process_grid process_grid::last_fastest(const triple& sides) {
  return {sides, {{2, sides[2]}, {1, sides[1]}, {0, sides[0]}}};
}

process_grid process_grid::longest_divided(const triple& sides) {
  const auto least_factor = [](std::uint32_t of) {
    std::uint32_t factor = 2;
    while (of % factor != 0) ++factor;
    return factor;
  };
  std::vector<digit> digits;
  for (triple left = sides;;) {
    const auto longest = std::ranges::max_element(left);
    if (*longest == 1) {
      std::ranges::reverse(digits);
      return {sides, std::move(digits)};
    }
    const std::uint32_t into = least_factor(*longest);
    digits.push_back({static_cast<std::uint32_t>(longest - left.begin()), into});
    *longest /= into;
  }
}

triple process_grid::at(std::uint32_t rank) const {
  triple position{}, weights{1, 1, 1};
  for (const digit& d : digits_) {
    position[d.along] += rank % d.values * weights[d.along];
    weights[d.along] *= d.values;
    rank /= d.values;
  }
  return position;
}

std::uint32_t process_grid::rank_of(triple position) const {
  std::uint32_t rank = 0, weight = 1;
  for (const digit& d : digits_) {
    rank += position[d.along] % d.values * weight;
    position[d.along] /= d.values;
    weight *= d.values;
  }
  return rank;
}

std::optional<std::uint32_t> process_grid::beside(const triple& position, const offset& by) const {
  triple there{};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t along = std::int64_t{position[d]} + by[d];
    if (along < 0 || along >= std::int64_t{sides_[d]}) return std::nullopt;
    there[d] = static_cast<std::uint32_t>(along);
  }
  return rank_of(there);
}

std::uint32_t process_grid::around(const triple& position, const offset& by) const {
  triple there{};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t side = sides_[d];
    there[d] = static_cast<std::uint32_t>(((std::int64_t{position[d]} + by[d]) % side + side) % side);
  }
  return rank_of(there);
}

}  // namespace lull::netsim
