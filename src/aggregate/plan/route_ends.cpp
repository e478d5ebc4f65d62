#include "aggregate/plan/route_ends.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <numeric>
#include <vector>

#include "aggregate/plan/agreed.hpp"
#include "aggregate/plan/phase_clock.hpp"
#include "aggregate/plan/phases.hpp"
#include "aggregate/plan/pipeline.hpp"

namespace lull::aggregate {
namespace {

// By buffers and hops; 0: not measured.
using all_ends = std::array<std::array<double, 3>, 2>;
std::optional<all_ends>& known() {
  static std::optional<all_ends> of_this_job;
  return of_this_job;
}
double& of(all_ends& ends, const scheme& how) {
  return ends[how.buffers == buffering::per_node ? 1 : 0][static_cast<std::size_t>(how.hops - 1)];
}

std::size_t take_none(void*, const detail::batch& items) { return items.count; }

double ns_of_end(fabric::world& world, const plan& how) {
  constexpr std::size_t warm_up = 2, measured = 5;  // the warm-up is for connections and the little memory used
  pipeline through(world, how, item_format(sizeof(std::uint64_t), how.addressed(), false), {&take_none, nullptr}, true,
                   nullptr);
  phase_clock clock(world, false);
  phases ends(world, through, clock, nullptr);
  const std::lock_guard duty(through.duty());
  const auto finish = [&] {
    while (!ends.try_finish())
      world.wait().until({wait::operation::aggregate}, [&] { return through.anything_arrived() || ends.can_go_on(); });
  };
  return ends.ns_of_empty(finish, warm_up, measured);
}

// Measures each route once; 0: some PE has no room for it.
std::vector<double> ends_of(fabric::world& world, std::span<const candidate> routes, const aggregate_options& options) {
  std::vector<double> found;
  for (const candidate& one : routes) {
    aggregate_options small = options;
    small.hops = one.how.hops;
    small.buffers = one.how.buffers == buffering::per_node ? aggregate_buffers::per_node : aggregate_buffers::per_pe;
    small.buffer_bytes = 1;  // the smallest possible
    try {
      found.push_back(ns_of_end(world, make_plan(world, small, sizeof(std::uint64_t))));
    } catch (const std::bad_alloc&) {
      found.push_back(0);
    }
  }
  return found;
}

using looks = std::array<double, 3>;
double median(looks of) {
  std::ranges::sort(of);
  return of[1];
}

}  // namespace

bool ends_are_measured() { return known().has_value(); }

// Other load on the machine comes and goes, and slows a whole pass or a part of it. The result for a route is therefore
// the median of its shares of the passes, times the median duration of a pass.
void measure_ends(fabric::world& world, std::span<const candidate> routes, const aggregate_options& options) {
  if (ends_are_measured()) return;
  std::vector<looks> shares(routes.size());
  looks of_all{};
  for (std::size_t look = 0; look < of_all.size(); ++look) {
    const std::vector<double> found = ends_of(world, routes, options);
    of_all[look] = std::accumulate(found.begin(), found.end(), 0.0);
    for (std::size_t i = 0; i < routes.size(); ++i) shares[i][look] = found[i] / std::max(1.0, of_all[look]);
  }
  all_ends mine{};
  for (std::size_t i = 0; i < routes.size(); ++i) of(mine, routes[i].how) = median(shares[i]) * median(of_all);
  known() = as_first_finds(world, mine);
}

std::optional<double> measured_end(const scheme& how) {
  if (!known() || of(*known(), how) == 0) return std::nullopt;
  return of(*known(), how);
}

}  // namespace lull::aggregate
