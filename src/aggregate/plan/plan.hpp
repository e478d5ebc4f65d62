// The plan of an aggregation: its route, its buffers, and when they are sent. Options that are not set take the values
// with the lowest cost by model/costs/aggregation.hpp, within the memory limit, for the link between nodes given by the
// machine's constants. The first aggregation of a job corrects these by a measurement (LULL_CHOOSE=auto).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "aggregate/channels/route.hpp"
#include "aggregate/hops/hop.hpp"
#include "fabric/world.hpp"
#include "lull/aggregate.hpp"
#include "model/choices/account.hpp"
#include "model/costs/aggregation.hpp"

namespace lull::aggregate {

// A route with its buffers, and what it costs.
struct candidate {
  scheme how;
  model::buffered_route found;
};

struct plan {
  scheme how;
  buffer_sizes sizes{};
  double ns_per_item = 0, ns_per_phase = 0;  // as predicted
  std::size_t memory_bytes = 0;              // on the PE that needs most
  std::size_t chunk_memory = 0;              // in addition, for the chunks of all threads of a PE
  model::thread_block_sizes blocks{};        // upper bounds, for what threads push for their own PE
  bool compress = false;
  bool direct = false;        // phases of few items do without buffers
  std::int64_t flush_ns = 0;  // 0: no deadline
  bool per_node = false;      // buffers belong to nodes, even where each node has one PE
  bool one_node = false;      // the job has a single node
  // The alternatives of the choice, including the one taken; and the same with the machine's constants alone. Empty if
  // there was no choice.
  std::vector<candidate> routes{}, predicted{};
  std::size_t taken = 0;    // index into routes
  bool may_change = false;  // another route may pay in other phases; false: routes are for statistics only

  // The cost of ending a phase, measured where the route may change.
  [[nodiscard]] double end_of_phase_ns() const { return may_change ? routes[taken].found.ns_per_phase : ns_per_phase; }
  // Whether items carry the number of their PE: not if each channel of the only hop that moves them ends at it.
  [[nodiscard]] bool addressed() const {
    return how != scheme{buffering::per_pe, 1} && !(one_node && how.buffers == buffering::per_node);
  }
};

bool has_threads();  // whether several threads of this PE may call at the same time

// In a program with threads, a quarter of the memory is reserved for their chunks. `chosen_from`: the options whose
// buffers and hops left the choice, where those of `options` are its result; null: alternatives are not needed.
//
// Collective. `item_bytes` excludes the address; 0: any size. Throws std::invalid_argument for impossible options.
plan make_plan(fabric::world& world, const aggregate_options& options, std::size_t item_bytes,
               const aggregate_options* chosen_from = nullptr);
// The start time, after the measurements that are made only for the first plan of a job. Collective.
std::int64_t begin_plan(fabric::world& world);
std::size_t memory_allowed(const aggregate_options& options);

inline constexpr std::size_t usual_bytes_of_any_size = 60;  // assumed size of an item of any size

// The routes to choose from, and the items that they carry.
struct wanted_route {
  std::size_t item_bytes;                                     // without the address; 0: any size
  aggregate_buffers buffers = aggregate_buffers::by_setting;  // by_setting: either
  int hops = 0;                                               // 0: any
  double pes_per_core = 1;                                    // that share a core in turn
};
// For phases of many items. A pure function, the same on every PE. Empty if no buffers fit into the memory.
std::optional<candidate> choose_route(const job::layout& layout, int pes, const model::machine& on,
                                      const wanted_route& wanted, model::buffer_limits limits);

}  // namespace lull::aggregate
