// Laghos: Lagrangian hydrodynamics with high-order finite elements; conjugate gradients for the velocity, four times
// per time step of RK4.
//
// Source, read but not run: Laghos v2.0 (e79b361), laghos_solver.cpp and laghos_assembly.cpp; MFEM's
// ConformingProlongationOperator, CartesianPartitioning and CGSolver.
// In each iteration, the owner of shared nodes, the process with the lowest rank, sends their values to the processes
// that share them, and receives sums; all sharers are neighbours one step up along some of x, y, z. There are three
// components of 8 bytes each.
// Assumptions: the solver always makes `cg_max_steps` iterations; they are 80 % of the computing, nine tenths of it
// before the sums come back; the mesh has 64 zones along each side, and 128 from 2,048 processes on; the published 6.35
// s for a step on 256 processes are all computing.
#include <fmt/format.h>

#include "netsim/program/exchange.hpp"
#include "netsim/skeletons/skeleton.hpp"

namespace lull::netsim {
namespace {

constexpr std::uint32_t stages = 4;  // of RK4
constexpr picoseconds usual_time = 6'350 * milliseconds;
constexpr std::uint32_t usual_iterations = 50;
constexpr double usual_zones = 8 * 8 * 16, in_solver = 0.8, before_sums = 0.9;

enum unit_kind : std::uint32_t {
  forces,
  before_solving,
  first_sum,
  iteration_of_solver,
  after_solving,
  end_of_step,
  end_of_fifth_step
};

class laghos final : public program {
 public:
  laghos(const job_setup& setup, const reader& from)
      : grid_(process_grid::first_fastest(grid_of_three(setup, from))),
        order_(number_of(from, "ok")),
        iterations_(number_of(from, "cg_max_steps")),
        steps_(steps_of(from, 1)),
        step_time_(step_time_of(from, usual_time)) {
    const std::uint32_t side = setup.size() < 2048 ? 64 : 128;
    zones_ = extent_of(setup, from, "zones", {side, side, side}, grid_.sides());
  }

  [[nodiscard]] stream of(std::uint32_t rank, const completions& done) const override;

 private:
  struct shares {
    std::vector<partner> values, sums;
  };
  [[nodiscard]] triple zones_at(const triple& at) const {
    triple zones{};
    for (std::size_t d = 0; d < 3; ++d) zones[d] = part_of(zones_[d], grid_.sides()[d], at[d]);
    return zones;
  }
  [[nodiscard]] shares shared_by(const triple& at) const;
  [[nodiscard]] stream solve(const shares& with, picoseconds iteration) const;

  process_grid grid_;
  triple zones_{};
  std::uint32_t order_, iterations_, steps_;
  picoseconds step_time_;
};

laghos::shares laghos::shared_by(const triple& at) const {
  constexpr std::uint64_t node_bytes = std::uint64_t{3} * 8;
  const triple zones = zones_at(at);
  shares result;
  for (int o = 1; o < 8; ++o) {
    const offset up{o & 1, o >> 1 & 1, o >> 2 & 1};
    std::uint64_t bytes = node_bytes;
    for (std::size_t d = 0; d < 3; ++d)
      if (up[d] == 0) bytes *= order_ * zones[d] + 1 - (at[d] > 0 ? 1 : 0);
    if (const auto sharer = grid_.beside(at, up)) {
      result.values.push_back({*sharer, bytes, 0});
      result.sums.push_back({*sharer, 0, bytes});
    }
    if (const auto owner = grid_.beside(at, {-up[0], -up[1], -up[2]})) {
      result.values.push_back({*owner, 0, bytes});
      result.sums.push_back({*owner, bytes, 0});
    }
  }
  return result;
}

// The boundary, the right-hand side and the first residual before the iterations, and the solution after them, take one
// round each.
stream laghos::solve(const shares& with, picoseconds iteration) const {
  const picoseconds before = share_of(iteration, before_sums);
  for (std::uint32_t round = 0; round < iterations_ + 3; ++round) {
    const bool iterates = round >= 2 && round < iterations_ + 2;
    if (round == 0 || round == 2 || round == iterations_ + 2)
      co_yield does::unit(round == 0 ? before_solving : round == 2 ? first_sum : after_solving);
    if (round == 2) co_yield does::all_of(collective::allreduce, 8);
    if (iterates) co_yield does::unit(iteration_of_solver);
    co_yield exchange(with.values, 0);
    if (iterates) co_yield does::compute(before);
    co_yield exchange(with.sums, 1);
    if (!iterates) continue;
    co_yield does::all_of(collective::allreduce, 8);
    co_yield does::compute(iteration - before);
    co_yield does::all_of(collective::allreduce, 8);
  }
}

stream laghos::of(std::uint32_t rank, const completions& /*done*/) const {
  const triple at = grid_.at(rank);
  const shares with = shared_by(at);
  const picoseconds all = share_of(step_time_, volume(zones_at(at)) / usual_zones);
  const picoseconds iteration = share_of(all, in_solver / stages / usual_iterations);
  for (std::uint32_t step = 1; step <= steps_; ++step) {
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
      co_yield does::unit(forces);
      co_yield does::compute(share_of(all, (1 - in_solver) / stages));
      co_yield solve(with, iteration);
    }
    co_yield does::unit(step % 5 == 0 ? end_of_fifth_step : end_of_step);
    co_yield does::all_of(collective::allreduce, 8);  // length of the next step
    if (step % 5 == 0) {
      co_yield does::all_of(collective::allreduce, 8);
      co_yield does::all_of(collective::barrier, 0);
    }
    co_yield does::iteration();
  }
}

}  // namespace

skeleton laghos_skeleton() {
  return {"laghos",
          "Laghos: conjugate gradients over nodes that neighbours share",
          {grid_key(),
           zones_key(),
           {.name = "ok", .meaning = "order of the velocity's elements", .by_default = 2, .least = 1, .most = 16},
           {.name = "cg_max_steps",
            .meaning = "iterations of the velocity's solver",
            .by_default = usual_iterations,
            .most = 1e6},
           steps_key(),
           step_time_key()},
          [](const job_setup& setup, const reader& from) -> std::unique_ptr<program> {
            return std::make_unique<laghos>(setup, from);
          }};
}

}  // namespace lull::netsim
