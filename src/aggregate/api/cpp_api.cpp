// The functions that the templates of lull/aggregate.hpp and lull/gatherer.hpp call.
#include <algorithm>
#include <memory>
#include <string>

#include "aggregate/plan/aggregation.hpp"
#include "base/error.hpp"
#include "fabric/teams/team.hpp"
#include "lull/gatherer.hpp"
#include "shmem/current.hpp"

namespace lull {
inline namespace cpp_abi_1 {
namespace detail {

void lull_check_cpp_abi(int number, const char* compiled_with) {
  if (number == cpp_abi) [[likely]]
    return;
  const auto version = [](const char* of, int its_number) {
    return std::string(of) + " (C++ interface " + std::to_string(its_number) + ")";
  };
  const error mismatch("aggregate messages",
                       "this program was compiled with the headers of Lull " + version(compiled_with, number) +
                           " but runs with liblull-shmem " + version(LULL_VERSION, cpp_abi),
                       "compile it again with the headers of that library");
  shmem::here("lull::aggregator").abort_together(mismatch.what());
}

aggregation* open_aggregation(const aggregation_request& wanted) {
  return std::make_unique<aggregation>(shmem::here("lull::aggregator"), wanted).release();
}
void close_aggregation(aggregation* a) noexcept { delete a; }  // NOLINT(cppcoreguidelines-owning-memory)
bool route_change_due(const aggregation* a) noexcept { return a->route_change_due(); }
route_change proposed_route_change(const aggregation* a, const aggregate_options& options) {
  const auto by = [&](const aggregate::scheme& how) {
    aggregate_options fixed = options;
    fixed.hops = how.hops;
    fixed.buffers =
        how.buffers == aggregate::buffering::per_node ? aggregate_buffers::per_node : aggregate_buffers::per_pe;
    return fixed;
  };
  return {by(a->wanted_route().value_or(a->route())), by(a->route())};
}
history* close_keeping_history(aggregation* a) noexcept {
  auto past = a->give_history();
  close_aggregation(a);
  return past.release();
}
void keep_route(history* past) noexcept {
  if (past->route) past->route->stay();
}
void free_history(history* past) noexcept { delete past; }  // NOLINT(cppcoreguidelines-owning-memory)
cursor* const* cursors_of(aggregation* a) noexcept { return a->pipeline().cursors(); }
bool is_addressed(const aggregation* a) noexcept { return a->pipeline().items().addressed; }
void make_room(aggregation* a, int pe, std::size_t item_bytes) { a->make_room(pe, item_bytes); }
void advance(aggregation* a) { a->advance(); }
void finish(aggregation* a) { a->finish(); }
direct_path_budget begin_of_phase(aggregation* a) { return a->direct_path_budget(); }
void leave_direct_path(aggregation* a) { a->leave_direct_path(); }
void finish_direct_phase(aggregation* a, std::uint64_t items, std::uint64_t spent) {
  a->finish_direct_phase(items, spent);
}
aggregate_statistics statistics_of(const aggregation* a) noexcept { return a->statistics(); }
std::size_t max_items_in_flight(const aggregation* a) noexcept { return a->max_items_in_flight(); }
std::size_t max_item_bytes(const aggregation* a) noexcept { return a->pipeline().max_item_bytes(); }

aggregate_options with_chosen_route(const aggregate_options& options, std::size_t item_bytes) {
  const aggregate::plan chosen = aggregate::make_plan(shmem::here("lull::aggregator"), options, item_bytes);
  aggregate_options fixed = options;
  fixed.hops = chosen.how.hops;
  fixed.buffers = chosen.per_node ? aggregate_buffers::per_node : aggregate_buffers::per_pe;
  return fixed;
}

exchange_route choose_exchange_route(const aggregate_options& options, const exchange_sizes& items) {
  fabric::world& world = shmem::here("lull::gatherer");
  const std::size_t allowed = aggregate::memory_allowed(options);
  const bool any_size = items.least_reply_bytes != items.usual_reply_bytes;
  aggregate_options part = options;
  for (part.memory_bytes = allowed / 5 * 2;; part.memory_bytes -= part.memory_bytes / 4) {
    const aggregate_options way = with_chosen_route(part, std::max(items.request_bytes, items.usual_reply_bytes));
    const bool ordered = !aggregate::make_plan(world, way, items.request_bytes).addressed();
    std::size_t pending = 0;
    if (ordered) {
      const auto under_way = [&](std::size_t item) { return aggregate::make_plan(world, way, item).sizes.under_way(); };
      pending = bytes_of_indices(under_way(items.request_bytes) / items.request_bytes +
                                 under_way(any_size ? 0 : items.usual_reply_bytes) / items.least_reply_bytes) *
                static_cast<std::size_t>(world.pes());
    }
    if (2 * part.memory_bytes + pending <= allowed) return {way, ordered};
  }
}

}  // namespace detail
}  // namespace cpp_abi_1
}  // namespace lull
