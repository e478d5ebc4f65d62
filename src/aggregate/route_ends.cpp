#include "aggregate/route_ends.hpp"

#include <array>
#include <mutex>
#include <new>

#include "aggregate/agreed.hpp"
#include "aggregate/phase_clock.hpp"
#include "aggregate/phases.hpp"
#include "aggregate/pipeline.hpp"

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
  pipeline through(world, how, item_format(sizeof(std::uint64_t), how.addressed(), false), {&take_none, nullptr}, true,
                   nullptr);
  phase_clock clock(world, false);
  phases ends(world, through, clock, nullptr);
  const std::lock_guard duty(through.duty());
  const auto finish = [&] {
    while (!ends.try_finish())
      world.wait().until({wait::operation::aggregate}, [&] { return through.anything_arrived() || ends.can_go_on(); });
  };
  return ends.ns_of_empty(finish, how.sizes.per_channel);
}

}  // namespace

void measure_ends(fabric::world& world, std::span<const candidate> routes, const aggregate_options& options) {
  if (known()) return;
  all_ends mine{};
  for (const candidate& one : routes) {
    aggregate_options small = options;
    small.hops = one.how.hops;
    small.buffers = one.how.buffers == buffering::per_node ? aggregate_buffers::per_node : aggregate_buffers::per_pe;
    small.buffer_bytes = 1;  // as few as there can be
    try {
      of(mine, one.how) = ns_of_end(world, make_plan(world, small, sizeof(std::uint64_t)));
    } catch (const std::bad_alloc&) {  // on all PEs: what is predicted holds
    }
  }
  known() = as_first_finds(world, mine);
}

std::optional<double> measured_end(const scheme& how) {
  if (!known() || of(*known(), how) == 0) return std::nullopt;
  return of(*known(), how);
}

}  // namespace lull::aggregate
