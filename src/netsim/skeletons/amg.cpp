// AMG: algebraic multigrid, problem 2. Each time step sets up a hierarchy and solves five systems by GMRES, with a
// V-cycle before each product.
//
// Source: AMG (3ada8a1), test/amg.c, parcsr_ls/par_cycle.c, krylov/gmres.c, parcsr_mv/par_csr_matvec.c. It was built
// and measured with 32^3 rows per process, on 16, 64 and 128 processes.
// The exchanges of a V-cycle and the reductions of GMRES are those of the source. The partners of a process on a level
// and the sizes of its messages were measured: a neighbour at an offset of (0,1,2) etc. exists with a probability, and
// gets a mean number of bytes, both by the sorted offset. The table of 64 processes predicts the neighbours of 128
// to 3 %; every run draws the same ones.
// Assumptions: the table holds beyond 128 processes; for other numbers of rows than 32^3 per process, messages grow
// with the face or edge that neighbours share; the setup, whose messages were counted, is a third of the computing, and
// its messages have four sizes with the measured mean and shares; rows of interpolation have four entries; the
// published 1.20 s for a time step are all computing.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>

#include "netsim/program/exchange.hpp"
#include "netsim/skeletons/skeleton.hpp"

namespace lull::netsim {
namespace {

constexpr picoseconds usual_time = 1'200 * milliseconds;
constexpr double usual_cycles = 39, in_setup = 1.0 / 3;
constexpr triple usual_rows{32, 32, 32};

// Rows of a process, and non-zeros per row.
struct level_size {
  double rows, non_zeros;
};
constexpr std::array<level_size, 5> level_sizes{{{32768, 26.6}, {457, 26.3}, {79, 100}, {11, 140}, {0.12, 5}}};
constexpr double entries_of_interpolation = 4;

// Neighbours by their sorted offset.
struct neighbour_class {
  std::array<int, 3> offset;
  double probability, bytes;
};
using classes = std::vector<neighbour_class>;
// Neighbours in the products of levels 0 to 4.
const std::array<classes, 5> of_products{{{{{0, 0, 1}, 1, 8192}, {{0, 1, 1}, 1, 256}, {{1, 1, 1}, 1, 8}},
                                          {{{0, 0, 1}, 1, 680}, {{0, 1, 1}, 1, 87}, {{1, 1, 1}, 0.63, 12}},
                                          {{{0, 0, 1}, 1, 409}, {{0, 1, 1}, 1, 180}, {{1, 1, 1}, 1, 55}},
                                          {{{0, 0, 1}, 1, 85},
                                           {{0, 1, 1}, 1, 82},
                                           {{1, 1, 1}, 1, 71},
                                           {{0, 0, 2}, 1, 52},
                                           {{0, 1, 2}, 0.99, 32},
                                           {{1, 1, 2}, 0.86, 18},
                                           {{0, 2, 2}, 0.22, 10},
                                           {{1, 2, 2}, 0.06, 8}},
                                          {{{0, 0, 1}, 0.014, 8}, {{0, 1, 1}, 0.014, 8}, {{1, 1, 1}, 0.014, 8}}}};
// Neighbours in the restriction from level 0 to 3, and the interpolation back.
const std::array<classes, 4> of_transfers{{{{{0, 0, 1}, 1, 309}, {{0, 1, 1}, 0.95, 22}, {{1, 1, 1}, 0.13, 8}},
                                           {{{0, 0, 1}, 1, 152}, {{0, 1, 1}, 0.98, 22}, {{1, 1, 1}, 0.22, 9}},
                                           {{{0, 0, 1}, 1, 42}, {{0, 1, 1}, 0.89, 14}, {{1, 1, 1}, 0.31, 8}},
                                           {{{0, 0, 1}, 0.014, 8}, {{0, 1, 1}, 0.014, 8}, {{1, 1, 1}, 0.014, 8}}}};

// The messages of the setup to each neighbour of the products on each of the levels 0 to 3, and its collectives over
// all levels.
struct setup_message {
  std::uint64_t bytes;
  std::uint32_t times;
};
constexpr std::array<setup_message, 4> setup_messages{{{32, 24}, {200, 19}, {1500, 5}, {8423, 4}}};
constexpr std::uint32_t setup_levels = 4, setup_reductions = 57, setup_scans = 6, setup_broadcasts = 10;

// Kinds of units: those of the setup differ by level, message and the collectives that follow.
enum unit_kind : std::uint32_t { cycle_unit, reduction, first_reductions, last_reductions, of_setup };
std::uint32_t setup_unit(std::size_t level, std::size_t message, const std::array<bool, 3>& collectives) {
  const std::size_t exchange = level * setup_messages.size() + message;
  return static_cast<std::uint32_t>(of_setup + 8 * exchange + (collectives[0] ? 4 : 0) + (collectives[1] ? 2 : 0) +
                                    (collectives[2] ? 1 : 0));
}

class amg final : public program {
 public:
  amg(const job_setup& setup, const reader& from)
      : grid_(process_grid::first_fastest(grid_of_three(setup, from))),
        rows_(extent_of(setup, from, "n", usual_rows, {1, 1, 1})),
        coarsest_(setup.size() < 64 ? 3 : 4),
        steps_(steps_of(from, 1)),
        step_time_(step_time_of(from, usual_time)) {
    for (const std::int64_t k : from.numbers("solves")) solves_.push_back(static_cast<std::uint32_t>(k));
  }

  [[nodiscard]] stream of(std::uint32_t rank, const completions& done) const override;

 private:
  // The partners of a process in the products and transfers of each level.
  struct surroundings {
    std::array<std::vector<partner>, of_products.size()> products;
    std::array<std::vector<partner>, of_transfers.size()> transfers;
  };
  // Computing time of each.
  struct work {
    std::array<picoseconds, of_products.size()> product{}, transfer{};
    picoseconds setup = 0;
  };
  [[nodiscard]] std::vector<partner> drawn(const classes& from, std::uint32_t rank, std::uint32_t what) const;
  [[nodiscard]] work work_of_each() const;
  [[nodiscard]] static stream set_up(const surroundings& with, const work& takes);
  [[nodiscard]] stream cycle(const surroundings& with, const work& takes) const;

  process_grid grid_;
  triple rows_;
  std::uint32_t coarsest_;
  std::vector<std::uint32_t> solves_;
  std::uint32_t steps_;
  picoseconds step_time_;
};

// `what` distinguishes the draws for the same pair of processes.
std::vector<partner> amg::drawn(const classes& from, std::uint32_t rank, std::uint32_t what) const {
  const triple at = grid_.at(rank);
  std::vector<partner> result;
  offset o{};
  for (o[2] = -2; o[2] <= 2; ++o[2])
    for (o[1] = -2; o[1] <= 2; ++o[1])
      for (o[0] = -2; o[0] <= 2; ++o[0]) {
        std::array<int, 3> sorted{std::abs(o[0]), std::abs(o[1]), std::abs(o[2])};
        std::ranges::sort(sorted);
        const auto of = std::ranges::find(from, sorted, &neighbour_class::offset);
        const auto there = of == from.end() ? std::nullopt : grid_.beside(at, o);
        if (!there) continue;
        const auto [low, high] = std::minmax(rank, *there);
        generator random(pair_key(low, high) + (std::uint64_t{what} << 32U));
        if (random.uniform() > of->probability) continue;
        double bytes = of->bytes;
        for (std::size_t d = 0; d < 3; ++d)
          if (o[d] == 0) bytes *= static_cast<double>(rows_[d]) / usual_rows[d];
        const auto sent = static_cast<std::uint64_t>(std::max(1LL, std::llround(bytes)));
        result.push_back({*there, sent, sent});
      }
  return result;
}

// In proportion to the non-zeros touched. The time of a step is that of 39 V-cycles on five levels, for any parameters.
amg::work amg::work_of_each() const {
  const auto entries = [](std::size_t level) { return level_sizes[level].rows * level_sizes[level].non_zeros; };
  double in_cycle = entries(0);  // the product of GMRES
  for (std::size_t level = 0; level < level_sizes.size(); ++level) {
    const bool last = level + 1 == level_sizes.size();
    in_cycle += last ? entries(level) : 5 * entries(level) + 2 * entries_of_interpolation * level_sizes[level].rows;
  }
  const double scale = volume(rows_) / volume(usual_rows);
  const picoseconds cycles = share_of(step_time_, (1 - in_setup) * scale);
  work takes;
  takes.setup = share_of(step_time_, in_setup * scale);
  for (std::size_t level = 0; level < level_sizes.size(); ++level) {
    takes.product[level] = share_of(cycles, entries(level) / in_cycle / usual_cycles);
    takes.transfer[level] =
        share_of(cycles, entries_of_interpolation * level_sizes[level].rows / in_cycle / usual_cycles);
  }
  return takes;
}

stream amg::set_up(const surroundings& with, const work& takes) {
  std::uint32_t times = 0;
  for (const setup_message& m : setup_messages) times += m.times;
  const std::uint32_t all = setup_levels * times;
  const double products =
      static_cast<double>(std::accumulate(takes.product.begin(), takes.product.begin() + setup_levels, picoseconds{0}));
  // Whether the next of `many` collectives, spread evenly over the exchanges, follows this exchange.
  const auto is_due = [all](std::uint32_t many, std::uint32_t now) {
    return std::uint64_t{many} * now / all != std::uint64_t{many} * (now + 1) / all;
  };
  std::uint32_t now = 0;
  for (std::size_t level = 0; level < setup_levels; ++level) {
    const double part = static_cast<double>(takes.product[level]) / std::max(products, 1.0) / times;
    std::vector<partner> partners = with.products[level];
    for (const setup_message& m : setup_messages) {
      for (partner& p : partners) p.sent = p.received = m.bytes;
      for (std::uint32_t i = 0; i < m.times; ++i, ++now) {
        const std::array due{is_due(setup_reductions, now), is_due(setup_scans, now), is_due(setup_broadcasts, now)};
        co_yield does::unit(setup_unit(level, static_cast<std::size_t>(&m - setup_messages.data()), due));
        co_yield does::compute(share_of(takes.setup, part));
        co_yield exchange(partners, 0);
        if (due[0]) co_yield does::all_of(collective::allreduce, 8);
        if (due[1]) co_yield does::all_of(collective::scan, 8);
        if (due[2]) co_yield does::all_of(collective::broadcast, 8);
      }
    }
  }
}

// Two Jacobi sweeps and a residual on the way down, two sweeps on the way up, and the product of GMRES.
stream amg::cycle(const surroundings& with, const work& takes) const {
  struct stage {
    bool transfers;
    std::uint32_t level, times;
  };
  std::vector<stage> stages;
  for (std::uint32_t level = 0; level < coarsest_; ++level) {
    stages.push_back({false, level, 3});
    stages.push_back({true, level, 1});
  }
  stages.push_back({false, coarsest_, 1});
  for (std::uint32_t level = coarsest_; level-- > 0;) {
    stages.push_back({true, level, 1});
    stages.push_back({false, level, level == 0 ? 3U : 2U});
  }
  for (const stage& now : stages)
    for (std::uint32_t i = 0; i < now.times; ++i) {
      const std::vector<partner>& partners = now.transfers ? with.transfers[now.level] : with.products[now.level];
      co_yield exchange(partners, 1);
      co_yield does::compute(now.transfers ? takes.transfer[now.level] : takes.product[now.level]);
    }
}

stream amg::of(std::uint32_t rank, const completions& /*done*/) const {
  surroundings with;
  for (std::uint32_t level = 0; level <= coarsest_; ++level)
    with.products[level] = drawn(of_products[level], rank, level);
  for (std::uint32_t level = 0; level < coarsest_; ++level)
    with.transfers[level] = drawn(of_transfers[level], rank, 8 + level);
  const work takes = work_of_each();
  for (std::uint32_t step = 0; step < steps_; ++step) {
    co_yield set_up(with, takes);
    for (const std::uint32_t iterations : solves_) {
      co_yield does::unit(first_reductions);
      for (int i = 0; i < 3; ++i) co_yield does::all_of(collective::allreduce, 8);
      for (std::uint32_t i = 1; i <= iterations + 1; ++i) {
        co_yield does::unit(cycle_unit);
        co_yield cycle(with, takes);
        const std::uint32_t products = i <= iterations ? i + 1 : 0;  // of Gram-Schmidt, and a norm
        for (std::uint32_t j = 0; j < products; ++j) {
          co_yield does::unit(reduction);
          co_yield does::all_of(collective::allreduce, 8);
        }
      }
    }
    co_yield does::unit(last_reductions);
    for (int i = 0; i < 4; ++i) co_yield does::all_of(collective::allreduce, 8);
    co_yield does::iteration();
  }
}

}  // namespace

skeleton amg_skeleton() {
  return {"amg",
          "AMG: setup and V-cycles of algebraic multigrid under GMRES",
          {grid_key(),
           {.name = "n",
            .meaning = "rows of each process along x, y, z",
            .by_default = list{32, 32, 32},
            .least = 1,
            .most = 4096,
            .list = true},
           {.name = "solves",
            .meaning = "iterations of GMRES in each solve of a time step",
            .by_default = list{16, 6, 5, 4, 3},
            .least = 1,
            .most = 1000,
            .list = true},
           steps_key(),
           step_time_key()},
          [](const job_setup& setup, const reader& from) -> std::unique_ptr<program> {
            return std::make_unique<amg>(setup, from);
          }};
}

}  // namespace lull::netsim
