// What the templates of lull/aggregate.hpp and lull/gatherer.hpp call.
#include <algorithm>
#include <memory>

#include "aggregate/aggregation.hpp"
#include "fabric/team.hpp"
#include "lull/gatherer.hpp"
#include "shmem/current.hpp"

namespace lull::detail {

aggregation* open_aggregation(const aggregation_request& wanted) {
  return std::make_unique<aggregation>(shmem::here("lull::aggregator"), wanted).release();
}
void close_aggregation(aggregation* a) noexcept { delete a; }  // NOLINT(cppcoreguidelines-owning-memory)
bool wants_other_route(const aggregation* a) noexcept { return a->wants_other_route(); }
other_route other_route_of(const aggregation* a, const aggregate_options& options) {
  const auto by = [&](const aggregate::scheme& how) {
    aggregate_options fixed = options;
    fixed.hops = how.hops;
    fixed.buffers =
        how.buffers == aggregate::buffering::per_node ? aggregate_buffers::per_node : aggregate_buffers::per_pe;
    return fixed;
  };
  return {by(a->wanted_route().value_or(a->route())), by(a->route())};
}
history* close_for_another(aggregation* a) noexcept {
  auto past = a->give_history();
  close_aggregation(a);
  return past.release();
}
void stays_as_it_is(history* past) noexcept {
  if (past->route) past->route->stay();
}
void forget(history* past) noexcept { delete past; }  // NOLINT(cppcoreguidelines-owning-memory)
cursor* const* cursors_of(aggregation* a) noexcept { return a->pipeline().cursors(); }
bool is_addressed(const aggregation* a) noexcept { return a->pipeline().items().addressed; }
void turn_over(aggregation* a, int pe, std::size_t item_bytes) { a->turn_over(pe, item_bytes); }
void advance(aggregation* a) { a->advance(); }
void finish(aggregation* a) { a->finish(); }
std::uint64_t direct_items(const aggregation* a) noexcept { return a->direct_items(); }
void leave_direct(aggregation* a) { a->leave_direct(); }
void finish_direct(aggregation* a, std::uint64_t items) { a->finish_direct(items); }
aggregate_statistics statistics_of(const aggregation* a) noexcept { return a->statistics(); }
std::size_t items_under_way(const aggregation* a) noexcept { return a->items_under_way(); }
std::size_t largest_item(const aggregation* a) noexcept { return a->pipeline().largest_item(); }

aggregate_options with_route(const aggregate_options& options, std::size_t item_bytes) {
  const aggregate::plan chosen = aggregate::make_plan(shmem::here("lull::aggregator"), options, item_bytes);
  aggregate_options fixed = options;
  fixed.hops = chosen.how.hops;
  fixed.buffers = chosen.per_node ? aggregate_buffers::per_node : aggregate_buffers::per_pe;
  return fixed;
}

answered_route of_either_way(const aggregate_options& options, const answered_items& items) {
  fabric::world& world = shmem::here("lull::gatherer");
  const std::size_t allowed = aggregate::memory_allowed(options);
  const bool any_size = items.least_answer_bytes != items.usual_answer_bytes;
  aggregate_options part = options;
  for (part.memory_bytes = allowed / 5 * 2;; part.memory_bytes -= part.memory_bytes / 4) {
    const aggregate_options way = with_route(part, std::max(items.request_bytes, items.usual_answer_bytes));
    const bool ordered = !aggregate::make_plan(world, way, items.request_bytes).addressed();
    std::size_t pending = 0;
    if (ordered) {
      const auto under_way = [&](std::size_t item) { return aggregate::make_plan(world, way, item).sizes.under_way(); };
      pending = bytes_of_pending(under_way(items.request_bytes) / items.request_bytes +
                                 under_way(any_size ? 0 : items.usual_answer_bytes) / items.least_answer_bytes) *
                static_cast<std::size_t>(world.pes());
    }
    if (2 * part.memory_bytes + pending <= allowed) return {way, ordered};
  }
}

}  // namespace lull::detail
