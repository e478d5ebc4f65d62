// Kripke: discrete-ordinates transport; sweeps through a grid of processes from all eight corners at once.
//
// Source: Kripke v1.1 (3a421a1), SteadyStateSolver.cpp, SweepSolver.cpp, ParallelComm/SweepComm.cpp. It was built and
// measured: messages and bytes on 8 and 16 processes are those of this file.
// A process has `gset` times 8 subdomains, one per group set and octant. The receives of all their upwind faces are
// posted first; then the ready subdomain with the lowest number is computed, and its faces are sent downwind.
// Assumptions: the shares of computing (measured in one process: sweep 7.1 %, the rest before it); the published 5.54 s
// for a step on 256 processes are that rest and 33 tasks in a row.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "netsim/skeletons/skeleton.hpp"

namespace lull::netsim {
namespace {

constexpr std::uint32_t octants = 8;
constexpr picoseconds usual_time = 5'150 * milliseconds;
constexpr double usual_work = 32.0 * 32 * 32 * 16 * 32;  // zones, directions, groups
constexpr double in_sweep = 0.071;

class kripke final : public program {
 public:
  kripke(const job_setup& setup, const reader& from)
      : grid_(process_grid::last_fastest(grid_of_three(setup, from))),
        directions_(number_of(from, "quad")),
        groups_(number_of(from, "groups")),
        group_sets_(number_of(from, "gset")),
        steps_(steps_of(from, 1)),
        step_time_(step_time_of(from, usual_time)) {
    const triple& sides = grid_.sides();
    zones_ = extent_of(setup, from, "zones", {32 * sides[0], 32 * sides[1], 32 * sides[2]}, sides);
    setup.require(directions_ % octants == 0, "quad", fmt::format("is {}", directions_), "use a multiple of 8");
    setup.require(groups_ % group_sets_ == 0, "gset", fmt::format("is {}, for {} groups", group_sets_, groups_),
                  "use a divisor of groups");
  }

  [[nodiscard]] stream of(std::uint32_t rank, const completions& done) const override;

 private:
  process_grid grid_;
  triple zones_{};
  std::uint32_t directions_, groups_, group_sets_, steps_;
  picoseconds step_time_;
};

// The state of a sweep in one process. Requests: three receives per subdomain, then three sends.
struct sweep {
  explicit sweep(std::uint32_t all) : missing(all), computed(all), under_way(6UL * all) {}
  [[nodiscard]] static std::uint32_t receiving(std::uint32_t subdomain, std::uint32_t along) {
    return 3 * subdomain + along;
  }
  [[nodiscard]] std::uint32_t sending(std::uint32_t subdomain, std::uint32_t along) const {
    return 3 * (static_cast<std::uint32_t>(missing.size()) + subdomain) + along;
  }
  void over(std::uint32_t request) {
    under_way[request] = false;
    if (request / 3 < missing.size()) --missing[request / 3];
  }
  // The ready subdomain with the lowest number; the number of subdomains if none is ready.
  [[nodiscard]] std::uint32_t ready() const {
    std::uint32_t s = 0;
    while (s < missing.size() && (computed[s] || missing[s] != 0)) ++s;
    return s;
  }

  std::vector<std::uint8_t> missing;  // faces, by subdomain
  std::vector<bool> computed;
  std::vector<bool> under_way;  // requests that have yet to be waited for
};

stream kripke::of(std::uint32_t rank, const completions& done) const {
  const triple at = grid_.at(rank);
  triple zones{};
  std::array<std::array<std::optional<std::uint32_t>, 2>, 3> beside;  // along each side: lower, upper neighbour
  for (std::uint32_t d = 0; d < 3; ++d) {
    zones[d] = part_of(zones_[d], grid_.sides()[d], at[d]);
    offset by{};
    by[d] = -1;
    beside[d][0] = grid_.beside(at, by);
    by[d] = 1;
    beside[d][1] = grid_.beside(at, by);
  }
  const std::uint32_t subdomains = octants * group_sets_;
  const std::uint64_t in_face = std::uint64_t{8} * (directions_ / octants) * (groups_ / group_sets_);
  const std::array<std::uint64_t, 3> bytes{in_face * zones[1] * zones[2], in_face * zones[0] * zones[2],
                                           in_face * zones[0] * zones[1]};
  const picoseconds all = share_of(step_time_, volume(zones) * directions_ * groups_ / usual_work);
  const picoseconds task = share_of(all, in_sweep / subdomains);
  const auto goes_down = [](std::uint32_t subdomain, std::uint32_t along) { return subdomain % octants >> along & 1U; };

  for (std::uint32_t step = 0; step < steps_; ++step) {
    co_yield does::unit(0);
    co_yield does::compute(share_of(all, 1 - in_sweep));
    sweep now(subdomains);
    for (std::uint32_t s = 0; s < subdomains; ++s)
      for (std::uint32_t d = 0; d < 3; ++d)
        if (const auto upwind = beside[d][goes_down(s, d)]) {
          ++now.missing[s];
          now.under_way[sweep::receiving(s, d)] = true;
          co_yield does::receive(*upwind, bytes[d], s, sweep::receiving(s, d));
        }
    for (std::uint32_t left = subdomains; left != 0;) {
      for (std::uint32_t r = 0; r < now.under_way.size(); ++r)
        if (now.under_way[r] && done.complete(r)) {
          co_yield does::wait(r);
          now.over(r);
        }
      const std::uint32_t s = now.ready();
      if (s == subdomains) {
        co_yield does::wait_any();
        continue;
      }
      co_yield does::compute(task);
      now.computed[s] = true;
      --left;
      for (std::uint32_t d = 0; d < 3; ++d)
        if (const auto downwind = beside[d][1 - goes_down(s, d)]) {
          now.under_way[now.sending(s, d)] = true;
          co_yield does::send(*downwind, bytes[d], s, now.sending(s, d));
        }
    }
    for (std::uint32_t r = 0; r < now.under_way.size(); ++r)
      if (now.under_way[r]) co_yield does::wait(r);
    co_yield does::all_of(collective::allreduce, 8);
    co_yield does::iteration();
  }
}

key number(const char* name, const char* meaning, int by_default, double most) {
  return {.name = name, .meaning = meaning, .by_default = by_default, .least = 1, .most = most};
}

}  // namespace

skeleton kripke_skeleton() {
  return {"kripke",
          "Kripke: sweeps through the grid from all its corners",
          {grid_key(), zones_key(), number("quad", "number of directions, a multiple of 8", 16, 4096),
           number("groups", "energy groups", 32, 65536), number("gset", "number of sets of energy groups", 2, 1024),
           steps_key(), step_time_key()},
          [](const job_setup& setup, const reader& from) -> std::unique_ptr<program> {
            return std::make_unique<kripke>(setup, from);
          }};
}

}  // namespace lull::netsim
