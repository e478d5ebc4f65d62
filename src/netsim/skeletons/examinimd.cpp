// ExaMiniMD: molecular dynamics of atoms with a short-range potential, in a periodic box.
//
// Source: ExaMiniMD (3264e29), comm_types/comm_mpi.cpp, property_*.cpp, input/in.lj: newton off, cutoff 2.5 and skin
// 0.3, exchange of atoms every 20 steps, output every 10. It was built and measured on 8 and 16 processes: the number
// of messages is the same, its bytes are 6.5 and 6.8 % higher, because it starts from a lattice, whose planes at a
// boundary count twice.
// Each of six phases waits for its message, because the next one passes on what it contained: halos grow from phase to
// phase.
// Assumptions: atoms are spread evenly; 15 atoms leave a face of 280 square units every 20 steps (measured once); 70 %
// of the computing is the force, 20 % the lists of neighbours, which are built when atoms are exchanged; a step on 256
// processes takes 18.3 ms, from the 1.83 s published for 100.
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "netsim/skeletons/skeleton.hpp"

namespace lull::netsim {
namespace {

constexpr double density = 0.8442, reach = 2.5 + 0.3;  // in units of the potential
constexpr double atoms_of_cell = 4;
constexpr std::uint32_t steps_of_exchange = 20, steps_of_output = 10;
constexpr std::uint64_t position_bytes = 24, atom_bytes = 72, count_bytes = 4;
constexpr double leaving = 15.0 / 280;  // atoms per square unit of a face
constexpr picoseconds usual_time = 18'300 * microseconds;
constexpr double usual_atoms = 15'625, in_lists = 0.2;

enum unit_kind : std::uint32_t { plain, exchanging, printing, at_the_end };

class examinimd final : public program {
 public:
  examinimd(const job_setup& setup, const reader& from)
      : grid_(process_grid::first_fastest({1, 1, 1})), steps_(steps_of(from, 100)) {
    const triple cells = extent_of(setup, from, "cells", {100, 100, 100}, {1, 1, 1});
    const double edge = std::cbrt(atoms_of_cell / density);
    std::array<double, 3> box{};
    for (std::size_t d = 0; d < 3; ++d) box[d] = edge * cells[d];
    grid_ = process_grid::first_fastest(least_surface(setup.size(), box));
    for (std::size_t d = 0; d < 3; ++d) {
      sides_[d] = box[d] / grid_.sides()[d];
      setup.require(grid_.sides()[d] == 1 || sides_[d] >= reach, "cells",
                    fmt::format("leave {:.2g} to a process along {}", sides_[d], "xyz"[d]),
                    fmt::format("atoms reach {}: use more cells, or fewer processes", reach));
    }
    const double atoms = density * sides_[0] * sides_[1] * sides_[2];
    step_ = share_of(step_time_of(from, usual_time), atoms / usual_atoms);
  }

  [[nodiscard]] stream of(std::uint32_t rank, const completions& done) const override;

 private:
  [[nodiscard]] static triple least_surface(std::uint32_t processes, const std::array<double, 3>& box);
  [[nodiscard]] std::array<double, 3> face() const {  // across x, y, z
    return {sides_[1] * sides_[2], sides_[0] * sides_[2], sides_[0] * sides_[1]};
  }
  // Atoms that a phase sends: those near a face, including atoms that came in earlier phases.
  [[nodiscard]] std::array<std::uint64_t, 3> in_halo() const {
    const double wide = sides_[0] + 2 * reach;
    const std::array<double, 3> area{sides_[1] * sides_[2], wide * sides_[2], wide * (sides_[1] + 2 * reach)};
    std::array<std::uint64_t, 3> atoms{};
    for (std::size_t d = 0; d < 3; ++d) atoms[d] = static_cast<std::uint64_t>(std::llround(density * reach * area[d]));
    return atoms;
  }
  // Six phases. In each, a message of `bytes` (by axis) goes in one direction and one comes from the other; if
  // `counted`, a message with its size precedes it.
  [[nodiscard]] stream phases(std::uint32_t rank, std::array<std::uint64_t, 3> bytes, bool counted) const;

  process_grid grid_;
  std::array<double, 3> sides_{};  // of a process
  std::uint32_t steps_;
  picoseconds step_ = 0;
};

// The first grid with the least surface per process, x varying slowest.
triple examinimd::least_surface(std::uint32_t processes, const std::array<double, 3>& box) {
  triple best{1, 1, processes};
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t x = 1; x <= processes; ++x) {
    if (processes % x != 0) continue;
    for (std::uint32_t y = 1; y <= processes / x; ++y) {
      if (processes / x % y != 0) continue;
      const std::uint32_t z = processes / x / y;
      const std::array<double, 3> side{box[0] / x, box[1] / y, box[2] / z};
      const double surface = side[0] * side[1] + side[1] * side[2] + side[0] * side[2];
      if (surface < least * (1 - 1e-12)) {
        least = surface;
        best = {x, y, z};
      }
    }
  }
  return best;
}

stream examinimd::phases(std::uint32_t rank, std::array<std::uint64_t, 3> bytes, bool counted) const {
  const triple at = grid_.at(rank);
  for (std::uint32_t phase = 0; phase < 6; ++phase) {
    const std::uint32_t along = phase / 2;
    if (grid_.sides()[along] == 1) continue;  // the process is its own neighbour
    offset up{}, down{};
    up[along] = 1;
    down[along] = -1;
    std::uint32_t to = grid_.around(at, up), from = grid_.around(at, down);
    if (phase % 2 == 1) std::swap(to, from);
    const std::array<std::uint64_t, 2> sizes{counted ? count_bytes : 0, bytes[along]};
    for (const std::uint64_t size : sizes) {
      if (size == 0) continue;
      co_yield does::receive(from, size, phase, 0);
      co_yield does::send(to, size, phase);
      co_yield does::wait(0);
    }
  }
}

stream examinimd::of(std::uint32_t rank, const completions& /*done*/) const {
  std::array<std::uint64_t, 3> positions{}, atoms{}, leave{};
  for (std::size_t d = 0; d < 3; ++d) {
    positions[d] = position_bytes * in_halo()[d];
    atoms[d] = atom_bytes * in_halo()[d];
    leave[d] = atom_bytes * static_cast<std::uint64_t>(std::llround(leaving * face()[d]));
  }
  const picoseconds lists = share_of(step_, in_lists * steps_of_exchange);
  for (std::uint32_t step = 1; step <= steps_; ++step) {
    co_yield does::unit(step % steps_of_exchange == 0 ? exchanging : step % steps_of_output == 0 ? printing : plain);
    if (step % steps_of_exchange == 0) {
      co_yield phases(rank, leave, true);
      co_yield phases(rank, atoms, true);
      co_yield does::compute(lists);
    } else {
      co_yield phases(rank, positions, false);
    }
    co_yield does::compute(share_of(step_, 1 - in_lists));
    if (step % steps_of_output == 0)
      for (int i = 0; i < 3; ++i) co_yield does::all_of(collective::allreduce, 8);
    co_yield does::iteration();
  }
  co_yield does::unit(at_the_end);
  for (int i = 0; i < 3; ++i) co_yield does::all_of(collective::allreduce, 8);
}

}  // namespace

skeleton examinimd_skeleton() {
  return {"examinimd",
          "ExaMiniMD: molecular dynamics, halos of atoms phase by phase",
          {{.name = "cells",
            .meaning = "cells of the lattice along x, y, z, with four atoms each",
            .by_default = list{100, 100, 100},
            .least = 1,
            .most = 1 << 20,
            .list = true},
           steps_key(),
           step_time_key()},
          [](const job_setup& setup, const reader& from) -> std::unique_ptr<program> {
            return std::make_unique<examinimd>(setup, from);
          }};
}

}  // namespace lull::netsim
