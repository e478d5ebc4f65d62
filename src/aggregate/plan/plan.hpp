// How an aggregation is made: its route, its buffers and when they are sent. What is not set costs least by
// model/costs/aggregation.hpp, within the memory that is set, for the link between nodes as the machine's constants have it; at the
// first aggregation of a job these are corrected by what is measured then (LULL_CHOOSE=auto).
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
  std::size_t chunk_memory = 0;              // besides, for the chunks of all threads of a PE
  model::thread_block_sizes blocks{};        // of threads, for their own PE, at most
  bool compress = false;
  bool direct = false;        // phases of few items go without buffers
  std::int64_t flush_ns = 0;  // 0: no deadline
  bool per_node = false;      // buffers are those of nodes, also where each has one PE
  bool one_node = false;      // there is no other
  // What it was chosen from, itself among them, and the same as the machine's constants alone have it; empty where there was
  // no choice.
  std::vector<candidate> routes{}, predicted{};
  std::size_t taken = 0;    // of these
  bool may_change = false;  // it may be worth another route in other phases; else these are for statistics only

  // What ends a phase, measured where it may change its route.
  [[nodiscard]] double end_of_phase_ns() const { return may_change ? routes[taken].found.ns_per_phase : ns_per_phase; }
  // Whether items carry the number of their PE: not where each channel of the only hop that moves them ends at it.
  [[nodiscard]] bool addressed() const {
    return how != scheme{buffering::per_pe, 1} && !(one_node && how.buffers == buffering::per_node);
  }
};

bool has_threads();  // whether several threads of this PE may call at the same time

// In a program with threads a quarter of the memory is kept for their chunks. `chosen_from`: whose buffers and hops leave the choice,
// where those of `options` are what was chosen; null: nobody asks.
//
// Collective. `item_bytes` without address; 0: any size. std::invalid_argument for what cannot be.
plan make_plan(fabric::world& world, const aggregate_options& options, std::size_t item_bytes,
               const aggregate_options* chosen_from = nullptr);
// When it began, after what is found out for the first one of a job alone. Collective.
std::int64_t begin_plan(fabric::world& world);
std::size_t memory_allowed(const aggregate_options& options);

inline constexpr std::size_t usual_bytes_of_any_size = 60;  // an item that has any is taken to have so many

// Which routes may be chosen from, and for which items.
struct wanted_route {
  std::size_t item_bytes;                                     // without address; 0: any size
  aggregate_buffers buffers = aggregate_buffers::by_setting;  // by_setting: either
  int hops = 0;                                               // 0: any
  double pes_per_core = 1;                                    // that take turns
};
// For phases of many items. A pure function, the same on every PE: nothing when no buffers fit into the memory.
std::optional<candidate> choose_route(const job::layout& layout, int pes, const model::machine& on,
                                      const wanted_route& wanted, model::buffer_limits limits);

}  // namespace lull::aggregate
