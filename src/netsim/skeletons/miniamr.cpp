// miniAMR: a stencil on blocks of cells. Blocks could be refined, but here are not: there is one block per process.
//
// Source: miniAMR (635fef2), ref/driver.c, comm.c, check_sum.c, refine.c. It was built and measured: 20 messages of
// 20,480 bytes per partner and 160 reductions per step on 8 and 16 processes, as here.
// A step has stages: an exchange of faces of all variables along x, then y, then z, and a stencil. Every
// `checksum_freq` stages, a reduction follows each variable's stencil and waits for the previous one. Every
// `refine_freq` steps, blocks are checked for refinement: small messages, and 59 reductions.
// Assumptions: the reductions of a refinement check have 8 bytes, except for ten with 4 bytes per process; a step
// computes for 1 ms (measured). The traced machine spent most of the published 32 ms per step in MPI.
#include <array>
#include <optional>

#include <fmt/format.h>

#include "netsim/program/exchange.hpp"
#include "netsim/skeletons/skeleton.hpp"

namespace lull::netsim {
namespace {

constexpr picoseconds usual_time = 1 * milliseconds;
constexpr double usual_stages = 20, usual_work = 8.0 * 8 * 8 * 40;  // cells, variables
constexpr std::uint32_t looks = 15, small_reductions = 49, wide_reductions = 10;

enum unit_kind : std::uint32_t { plain_stage, checked_stage, refinement };

class miniamr final : public program {
 public:
  miniamr(const job_setup& setup, const reader& from)
      : grid_(process_grid::longest_divided(grid_of_three(setup, from))),
        block_(extent_of(setup, from, "block", {8, 8, 8}, {1, 1, 1})),
        variables_(number_of(from, "num_vars")),
        stages_(number_of(from, "stages_per_ts")),
        stages_of_checksum_(number_of(from, "checksum_freq")),
        steps_of_refinement_(number_of(from, "refine_freq")),
        steps_(steps_of(from, 1)),
        stage_(share_of(step_time_of(from, usual_time), volume(block_) * variables_ / usual_work / usual_stages)) {}

  [[nodiscard]] stream of(std::uint32_t rank, const completions& done) const override;

 private:
  // The neighbours along each side.
  [[nodiscard]] std::array<std::vector<partner>, 3> partners_of(std::uint32_t rank) const;
  [[nodiscard]] stream look(const std::array<std::vector<partner>, 3>& partners) const;

  process_grid grid_;
  triple block_;
  std::uint32_t variables_, stages_, stages_of_checksum_, steps_of_refinement_, steps_;
  picoseconds stage_;
};

std::array<std::vector<partner>, 3> miniamr::partners_of(std::uint32_t rank) const {
  std::array<std::vector<partner>, 3> result;
  const triple at = grid_.at(rank);
  for (std::size_t d = 0; d < 3; ++d) {
    const std::uint64_t cells = std::uint64_t{block_[(d + 1) % 3]} * block_[(d + 2) % 3];
    const std::uint64_t bytes = cells * variables_ * 8;
    for (const int way : {-1, 1}) {
      offset by{};
      by[d] = way;
      if (const auto other = grid_.beside(at, by)) result[d].push_back({*other, bytes, bytes});
    }
  }
  return result;
}

// The check whether blocks are to be refined.
stream miniamr::look(const std::array<std::vector<partner>, 3>& partners) const {
  std::vector<partner> all;
  for (const auto& along : partners)
    for (const partner& p : along) all.push_back({p.rank, 4, 4});
  for (std::uint32_t i = 0; i < looks; ++i) co_yield exchange(all, 3);
  for (std::uint32_t i = 0; i < small_reductions; ++i) co_yield does::all_of(collective::allreduce, 8);
  const std::uint64_t of_all = std::uint64_t{4} * grid_.sides()[0] * grid_.sides()[1] * grid_.sides()[2];
  for (std::uint32_t i = 0; i < wide_reductions; ++i) co_yield does::all_of(collective::allreduce, of_all);
}

stream miniamr::of(std::uint32_t rank, const completions& /*done*/) const {
  const std::array<std::vector<partner>, 3> partners = partners_of(rank);
  const picoseconds variable = stage_ / variables_;
  std::uint64_t stages = 0;  // of all steps
  for (std::uint32_t step = 1; step <= steps_; ++step) {
    for (std::uint32_t stage = 0; stage < stages_; ++stage, ++stages) {
      co_yield does::unit(stages % stages_of_checksum_ == 0 ? checked_stage : plain_stage);
      for (std::uint32_t d = 0; d < 3; ++d) co_yield exchange(partners[d], d);
      if (stages % stages_of_checksum_ != 0) {
        co_yield does::compute(stage_);
        continue;
      }
      for (std::uint32_t v = 0; v < variables_; ++v) {
        co_yield does::compute(variable);
        co_yield does::all_of(collective::allreduce, 8);
      }
    }
    if (step % steps_of_refinement_ == 0) {
      co_yield does::unit(refinement);
      co_yield look(partners);
    }
    co_yield does::iteration();
  }
}

key number(const char* name, const char* meaning, int by_default) {
  return {.name = name, .meaning = meaning, .by_default = by_default, .least = 1, .most = 1e6};
}

}  // namespace

skeleton miniamr_skeleton() {
  return {"miniamr",
          "miniAMR: a stencil on blocks, with consecutive reductions",
          {grid_key(),
           {.name = "block",
            .meaning = "cells of each process's block along x, y, z",
            .by_default = list{8, 8, 8},
            .least = 1,
            .most = 1024,
            .list = true},
           number("num_vars", "variables of a cell", 40),
           number("stages_per_ts", "stages of a step", 20),
           number("checksum_freq", "stages from one checksum to the next", 5),
           number("refine_freq", "steps from one check for refinement to the next", 5),
           steps_key(),
           step_time_key()},
          [](const job_setup& setup, const reader& from) -> std::unique_ptr<program> {
            return std::make_unique<miniamr>(setup, from);
          }};
}

}  // namespace lull::netsim
