#include "aggregate/plan/plan.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "aggregate/hops/node_hop.hpp"
#include "aggregate/hops/pe_hop.hpp"
#include "aggregate/plan/agreed.hpp"
#include "aggregate/plan/route_ends.hpp"
#include "base/clock.hpp"
#include "base/settings.hpp"
#include "base/topology.hpp"
#include "fabric/teams/team.hpp"
#include "model/machine/correction.hpp"
#include "model/machine/machine_file.hpp"
#include "shmem.h"

namespace lull::aggregate {
namespace {

// The link is measured with this many messages of either size, in this many rounds: some milliseconds, once per job.
constexpr int messages_of_link = 16, rounds_of_link = 3;
constexpr std::size_t small_message = 1024, large_message = 32768;
// A lower bound on the costs of a link, however much two noisy times differ.
constexpr model::link_costs cheapest_link{100, 0.01};

// The inputs of the plan, the same on all PEs, because different inputs would lead to different routes and buffers: the
// machine's constants as PE 0 has them (they may differ on another node), and the costs of a message between nodes,
// both from these constants and corrected.
struct known_link {
  model::link_costs predicted, corrected;
  double pes_per_core;      // the maximum over the cores
  std::size_t pes_of_node;  // of the largest node
  model::machine constants;
};

model::machine constants_here() {
  model::machine here = model::this_machine();
  static const std::size_t l2_bytes = this_topology().l2_bytes;  // takes milliseconds to find
  here.aggregation.l2_bytes = l2_bytes;
  return here;
}

// Alternates between messages of either size. Collective.
model::link_costs measured(fabric::world& world, const model::machine& here, std::byte* target) {
  const job::layout& layout = world.places();
  const pe_id peer = layout.leader(node_id{(layout.my_node().index() + 1) % layout.nodes()});
  const std::vector<std::byte> source(large_message);
  fabric::context traffic;
  const auto time = [&](std::size_t bytes) {
    const std::int64_t begin = now_ns();
    for (int i = 0; i < messages_of_link; ++i)
      world.transfers().put(traffic, target, source.data(), bytes, peer, false);
    world.transfers().quiet(traffic);
    return static_cast<double>(now_ns() - begin) / messages_of_link;
  };
  const auto predicted = [&](std::size_t bytes) {
    return here.network.ns_per_message + static_cast<double>(bytes) * here.network.ns_per_byte;
  };
  model::corrected_term of_small(predicted(small_message), here.correction),
      of_large(predicted(large_message), here.correction);
  time(large_message);  // the first message sets up the connection
  for (int i = 0; i < rounds_of_link; ++i) {
    of_small.saw(time(small_message));
    of_large.saw(time(large_message));
  }
  const double per_byte = std::max(cheapest_link.ns_per_byte, (of_large.value() - of_small.value()) /
                                                                  static_cast<double>(large_message - small_message));
  return {std::max(cheapest_link.ns_per_message, of_small.value() - static_cast<double>(small_message) * per_byte),
          per_byte};
}

known_link find_out(fabric::world& world) {
  const model::machine here = constants_here();
  auto* const target = static_cast<std::byte*>(world.memory().allocate(large_message));
  if (!target) throw std::bad_alloc();  // there would be no room for buffers either
  std::size_t pes_of_node = 1;
  for (int node = 0; node < world.places().nodes(); ++node)
    pes_of_node = std::max(pes_of_node, world.places().members(node_id{node}).size());
  known_link mine{here.network, here.network, world.pes_per_core(), pes_of_node, here};
  world.everybody().sync();
  if (!here.correction.off && world.places().leader(world.places().my_node()) == world.me())
    mine.corrected = measured(world, here, target);
  world.everybody().sync();
  world.memory().release(target);
  return as_first_finds(world, mine);
}

// Found for the first aggregation of a job; links do not change.
known_link link_between_nodes(fabric::world& world) {
  if (world.places().nodes() == 1) return {{}, {}, 1, static_cast<std::size_t>(world.pes()), constants_here()};
  static std::optional<known_link> known;
  if (!known) known = find_out(world);
  return *known;
}

std::size_t set_or(std::size_t option, const char* setting) { return option != 0 ? option : setting_size(setting); }

model::buffer_demand demand_of(const route& way) {
  model::buffer_demand all;
  for (int hop = 0; hop < way.hops(); ++hop) {
    const channel_counts most = way.most_channels(hop);
    const model::buffer_demand one = way.between_nodes(hop) ? node_hop::demand(most) : pe_hop::demand(most);
    all.intra_node_channels += one.intra_node_channels;
    all.inter_node_channels += one.inter_node_channels;
    all.fixed_bytes += one.fixed_bytes;
  }
  return all;
}

// Messages to other nodes that end a phase, on the core that sends the most. The last PE to close a channel between
// nodes sends for its node, and each node has one such PE at a time.
double last_messages_of(const route& way, int nodes, int pes, double pes_per_core) {
  const double nodes_per_core = std::max(1.0, pes_per_core * nodes / pes);
  double all = 0;
  for (int hop = 0; hop < way.hops(); ++hop) {
    const channel_counts most = way.most_channels(hop);
    all += way.between_nodes(hop) ? nodes_per_core * static_cast<double>(most.of_node)
                                  : pes_per_core * static_cast<double>(most.inter_node_targets);
  }
  return all;
}

// The routes that `wanted` allows.
std::vector<candidate> candidates(fabric::world& world, const model::machine& on, const wanted_route& wanted,
                                  const model::buffer_limits& limits) {
  std::vector<candidate> all;
  for (const buffering kind : {buffering::per_pe, buffering::per_node})
    for (int hops = 1; hops <= 3; ++hops) {
      const auto buffers = kind == buffering::per_node ? aggregate_buffers::per_node : aggregate_buffers::per_pe;
      if ((wanted.hops != 0 && wanted.hops != hops) ||
          (wanted.buffers != aggregate_buffers::by_setting && wanted.buffers != buffers))
        continue;
      if (wanted.hops == 0 && kind == buffering::per_node && node_grid(world.places().nodes(), hops).has_idle_hop())
        continue;
      wanted_route one = wanted;
      one.buffers = buffers;
      one.hops = hops;
      if (const auto cost = choose_route(world.places(), world.pes(), on, one, limits)) all.push_back(*cost);
    }
  return all;
}

wanted_route left_by(const aggregate_options& options) {
  wanted_route wanted{.item_bytes = 0, .buffers = options.buffers, .hops = options.hops};
  if (const std::string set = setting_text("LULL_AGGREGATE");
      wanted.buffers == aggregate_buffers::by_setting && set != "auto")
    wanted.buffers = set == "per-node" ? aggregate_buffers::per_node : aggregate_buffers::per_pe;
  if (wanted.hops == 0) wanted.hops = static_cast<int>(setting_integer("LULL_AGGREGATE_HOPS"));
  return wanted;
}

void note_routes(plan& made, fabric::world& world, const model::machine& here, const model::link_costs& predicted,
                 const wanted_route& wanted, const model::buffer_limits& limits) {
  // Only between nodes, and only where several PEs of a node can share buffers.
  made.may_change = world.places().nodes() > 1 && world.places().nodes() < world.pes() && !here.correction.off;
  if (!made.may_change && !world.wait().has_table()) return;
  made.routes = candidates(world, here, wanted, limits);
  for (candidate& one : made.routes) one.found.ns_per_phase = measured_end(one.how).value_or(one.found.ns_per_phase);
  model::machine by_constants = here;
  by_constants.link = predicted;
  made.predicted = candidates(world, by_constants, wanted, limits);
  const auto at = std::ranges::find(made.routes, made.how, &candidate::how);
  made.taken = static_cast<std::size_t>(at - made.routes.begin());
  if (at == made.routes.end() || made.routes.size() < 2 || made.predicted.size() != made.routes.size()) {
    made.routes.clear();
    made.predicted.clear();
    made.may_change = false;
  }
}

}  // namespace

bool has_threads() {
  int level = SHMEM_THREAD_SINGLE;
  shmem_query_thread(&level);
  return level == SHMEM_THREAD_MULTIPLE;
}

std::optional<candidate> choose_route(const job::layout& layout, int pes, const model::machine& on,
                                      const wanted_route& wanted, model::buffer_limits limits) {
  const std::size_t item_bytes = wanted.item_bytes == 0 ? usual_bytes_of_any_size : wanted.item_bytes;
  limits.least_bytes = sizeof(buffer_header) + item_bytes + detail::address_bytes;
  limits.any_size = wanted.item_bytes == 0;
  std::vector<scheme> schemes;
  std::vector<model::item_route> routes;
  for (const buffering kind : {buffering::per_pe, buffering::per_node})
    for (int hops = 1; hops <= 3; ++hops) {
      if (wanted.hops != 0 && wanted.hops != hops) continue;
      if (wanted.buffers != aggregate_buffers::by_setting &&
          (wanted.buffers == aggregate_buffers::per_node) != (kind == buffering::per_node))
        continue;
      const route way(layout, pes, {kind, hops});
      schemes.push_back({kind, hops});
      routes.push_back({.hops = way.hops(),
                        .inter_node_hops = layout.nodes() == 1           ? 0
                                           : kind == buffering::per_node ? hops
                                                                         : 1,
                        .item_bytes = item_bytes + (way.is_direct() ? 0 : detail::address_bytes),
                        .demand = demand_of(way),
                        .last_messages = last_messages_of(way, layout.nodes(), pes, wanted.pes_per_core),
                        .shared_hops = kind == buffering::per_node && layout.nodes() > 1 ? hops : 0});
    }
  const auto found = model::choose(on, routes, limits);
  if (!found) return std::nullopt;
  return candidate{schemes[found->route], *found};
}

std::int64_t begin_plan(fabric::world& world) {
  link_between_nodes(world);
  return now_ns();
}

std::size_t memory_allowed(const aggregate_options& options) {
  return set_or(options.memory_bytes, "LULL_AGGREGATE_MEMORY");
}

plan make_plan(fabric::world& world, const aggregate_options& options, std::size_t item_bytes,
               const aggregate_options* chosen_from) {
  if (options.hops < 0 || options.hops > 3)
    throw std::invalid_argument("an aggregator of " + std::to_string(options.hops) +
                                " hops; the allowed numbers are 1, 2 and 3");
  const known_link link = link_between_nodes(world);
  model::machine here = link.constants;
  here.link = link.corrected;

  wanted_route wanted = left_by(options);
  wanted.item_bytes = item_bytes;
  wanted.pes_per_core = link.pes_per_core;
  const std::size_t allowed = memory_allowed(options);
  const std::size_t chunk_memory = has_threads() ? allowed / 4 : 0;
  const model::buffer_limits limits{.memory_bytes = allowed - chunk_memory,
                                    .least_bytes = 0,
                                    .per_channel = static_cast<std::size_t>(setting_integer("LULL_AGGREGATE_BUFFERS")),
                                    .set_bytes = set_or(options.buffer_bytes, "LULL_AGGREGATE_BUFFER_BYTES"),
                                    .pes_of_node = link.pes_of_node};
  const auto choose = [&] { return choose_route(world.places(), world.pes(), here, wanted, limits); };
  auto best = choose();
  const bool per_node = best && best->how.buffers == buffering::per_node;
  // The buffers of a node with a single PE are that PE's, and no item needs to carry its PE.
  if (best && best->how == scheme{buffering::per_node, 1} && world.places().nodes() == world.pes()) {
    wanted.buffers = aggregate_buffers::per_pe;
    wanted.hops = 1;
    best = choose();
  }
  if (!best)
    throw std::invalid_argument("no aggregation buffers fit into " + std::to_string(allowed) +
                                " bytes; raise LULL_AGGREGATE_MEMORY");
  plan made{.how = best->how,
            .sizes = {best->found.sizes},
            .ns_per_item = best->found.ns_per_item,
            .ns_per_phase = best->found.ns_per_phase,
            .memory_bytes = best->found.memory_bytes,
            .chunk_memory = chunk_memory,
            .blocks = here.thread_blocks,
            .compress = options.compress >= 0 ? options.compress != 0 : setting_integer("LULL_AGGREGATE_COMPRESS") != 0,
            .direct = options.direct >= 0 ? options.direct != 0 : setting_integer("LULL_AGGREGATE_DIRECT") != 0,
            .flush_ns = 1000 * (options.flush_us >= 0 ? options.flush_us : setting_integer("LULL_AGGREGATE_FLUSH_US")),
            .per_node = per_node,
            .one_node = world.places().nodes() == 1};
  if (const std::string asked = setting_text("LULL_AGGREGATE_STAGES");
      asked == "on" || (asked == "auto" && world.pes_per_core() <= 1)) {
    const std::size_t channels = demand_of(route(world.places(), world.pes(), best->how)).intra_node_channels;
    made.sizes.stage_bytes = model::stage_bytes(here, limits, best->found, channels, item_bytes);
    made.memory_bytes += channels * made.sizes.stage_bytes;
  }
  if (!chosen_from) return made;
  wanted_route others = left_by(*chosen_from);
  others.item_bytes = item_bytes;
  others.pes_per_core = link.pes_per_core;
  note_routes(made, world, here, link.predicted, others, limits);
  return made;
}

}  // namespace lull::aggregate
