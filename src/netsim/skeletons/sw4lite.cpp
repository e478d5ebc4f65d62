// SW4lite: seismic waves by fourth-order finite differences, on a plane of processes; depth is never divided.
//
// Source: sw4lite (06b888c), EW.C: timesteploop, communicate_array, proc_decompose_2d, decomp1d. It was built and
// measured: the bytes of each pair of processes on 4, 8 and 16 processes are those of this file.
// A step is a predictor and a corrector; after each, four blocking exchanges follow, along x in both directions, then
// along y. They send two planes of ghost points, with three components of 8 bytes.
// Assumptions: the surface grows with the processes, while depth and spacing stay (the study says only that scaling is
// weak); 45 % of the computing is the predictor; the published 0.62 s for a step on 256 processes are all computing.
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "netsim/skeletons/skeleton.hpp"

namespace lull::netsim {
namespace {

constexpr std::uint64_t of_face = std::uint64_t{2} * 3 * 8;  // ghost planes, components
constexpr std::uint32_t overlap = 4;                         // of neighbours: ghost points of both
constexpr picoseconds usual_time = 620 * milliseconds;
constexpr double usual_side = 27.75, usual_depth = 665, in_predictor = 0.45;

enum unit_kind : std::uint32_t { predictor, corrector };

class sw4lite final : public program {
 public:
  sw4lite(const job_setup& setup, const reader& from)
      : grid_(process_grid::last_fastest({1, 1, 1})), steps_(steps_of(from, 1)) {
    const std::vector<std::int64_t> square = cubic_grid(setup.size(), 2);
    const auto side = [](std::int64_t processes) {
      return static_cast<std::uint32_t>(std::llround(usual_side * static_cast<double>(processes)));
    };
    points_ = extent_of(setup, from, "points", {side(square[0]), side(square[1]), 665}, {1, 1, 1});
    const triple sides = most_square(setup.size(), points_);
    grid_ = process_grid::last_fastest(sides);
    for (std::size_t d = 0; d < 2; ++d)
      setup.require(points_[d] >= overlap * sides[d], "points",
                    fmt::format("has {} along {}, for {} processes", points_[d], "xy"[d], sides[d]),
                    fmt::format("give each process at least {}", overlap));
    const double own = volume(points_) / setup.size();
    step_ = share_of(step_time_of(from, usual_time), own / (usual_side * usual_side * usual_depth));
  }

  [[nodiscard]] stream of(std::uint32_t rank, const completions& done) const override;

 private:
  // The first grid whose sides per process are most equal.
  [[nodiscard]] static triple most_square(std::uint32_t processes, const triple& points) {
    triple best{1, processes, 1};
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t x = 1; x <= processes; ++x) {
      if (processes % x != 0) continue;
      const double difference = std::abs(static_cast<double>(points[0]) / x -
                                         static_cast<double>(points[1]) / (static_cast<double>(processes) / x));
      if (difference < least) {
        least = difference;
        best = {x, processes / x, 1};
      }
    }
    return best;
  }
  // Points of a process along a side, including those that it shares with neighbours.
  [[nodiscard]] std::uint64_t extent(const triple& at, std::size_t along) const {
    const std::uint32_t processes = grid_.sides()[along];
    return part_of(points_[along] + overlap + overlap * (processes - 1), processes, at[along]);
  }
  [[nodiscard]] stream halo(std::uint32_t rank) const;

  process_grid grid_;
  triple points_{};
  std::uint32_t steps_;
  picoseconds step_ = 0;
};

stream sw4lite::halo(std::uint32_t rank) const {
  const triple at = grid_.at(rank);
  for (std::uint32_t way = 0; way < 4; ++way) {
    const std::uint32_t along = way / 2;
    offset forth{}, back{};
    forth[along] = way % 2 == 0 ? 1 : -1;
    back[along] = -forth[along];
    const auto to = grid_.beside(at, forth), from = grid_.beside(at, back);
    const std::uint64_t bytes = of_face * (points_[2] + overlap) * extent(at, 1 - along);
    if (from) co_yield does::receive(*from, bytes, way, 0);
    if (to) co_yield does::send(*to, bytes, way, 1);
    if (from) co_yield does::wait(0);
    if (to) co_yield does::wait(1);
  }
}

stream sw4lite::of(std::uint32_t rank, const completions& /*done*/) const {
  const std::array<double, 2> parts{in_predictor, 1 - in_predictor};
  for (std::uint32_t step = 0; step < steps_; ++step) {
    for (const double part : parts) {
      co_yield does::unit(part == parts[0] ? predictor : corrector);
      co_yield does::compute(share_of(step_, part));
      co_yield halo(rank);
    }
    co_yield does::iteration();
  }
}

}  // namespace

skeleton sw4lite_skeleton() {
  return {"sw4lite",
          "SW4lite: seismic waves, with four blocking exchanges twice in a step",
          {{.name = "points",
            .meaning = "points of the grid along x, y, and z, which is not divided",
            .otherwise = "27.75 for each process along x and y, 665 along z",
            .least = 1,
            .most = 1 << 28,
            .list = true},
           steps_key(),
           step_time_key()},
          [](const job_setup& setup, const reader& from) -> std::unique_ptr<program> {
            return std::make_unique<sw4lite>(setup, from);
          }};
}

}  // namespace lull::netsim
