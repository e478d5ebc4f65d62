#include "aggregate/plan.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "aggregate/node_hop.hpp"
#include "aggregate/pe_hop.hpp"
#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/settings.hpp"
#include "base/topology.hpp"
#include "fabric/collectives.hpp"
#include "fabric/team.hpp"
#include "model/correction.hpp"
#include "model/machine_file.hpp"
#include "shmem.h"

namespace lull::aggregate {
namespace {

// What a message between nodes costs: as the machine's constants have it, and corrected. Collective; the same everywhere, as PE 0
// finds.
struct known_link {
  model::link_costs predicted, corrected;
};

// Of some messages of either size, in turn. Collective.
model::link_costs measured(fabric::world& world, const model::machine& here, std::byte* target, std::size_t most) {
  constexpr int messages = 16, rounds = 3;
  constexpr std::size_t small = 1024;
  const job::layout& layout = world.places();
  const pe_id peer = layout.leader(node_id{(layout.my_node().index() + 1) % layout.nodes()});
  const std::vector<std::byte> source(most);
  fabric::context traffic;
  const auto time = [&](std::size_t bytes) {
    const std::int64_t begin = now_ns();
    for (int i = 0; i < messages; ++i) world.transfers().put(traffic, target, source.data(), bytes, peer, false);
    world.transfers().quiet(traffic);
    return static_cast<double>(now_ns() - begin) / messages;
  };
  const auto predicted = [&](std::size_t bytes) {
    return here.network.ns_per_message + static_cast<double>(bytes) * here.network.ns_per_byte;
  };
  model::corrected_term of_small(predicted(small), here.correction), of_large(predicted(most), here.correction);
  time(most);  // the connection is made by the first message
  for (int i = 0; i < rounds; ++i) {
    of_small.saw(time(small));
    of_large.saw(time(most));
  }
  const double per_byte = std::max(0.01, (of_large.value() - of_small.value()) / static_cast<double>(most - small));
  return {std::max(100.0, of_small.value() - static_cast<double>(small) * per_byte), per_byte};
}

known_link find_out(fabric::world& world) {
  constexpr std::size_t most = 32768;
  const model::machine& here = model::this_machine();
  auto* const target = static_cast<std::byte*>(world.memory().allocate(most));
  auto* const result = static_cast<known_link*>(world.memory().allocate(sizeof(known_link)));
  if (!target || !result) {
    if (target) world.memory().release(target);
    if (result) world.memory().release(result);
    throw std::bad_alloc();  // nor would there be room for buffers
  }
  known_link mine{here.network, here.network};
  world.everybody().sync();
  if (!here.correction.off && world.places().leader(world.places().my_node()) == world.me())
    mine.corrected = measured(world, here, target, most);
  // Only PE 0 writes: what it sends may arrive before the others have come as far.
  if (world.me().index() == 0) *result = mine;
  fabric::broadcast(world.everybody(), result, result, sizeof *result, 0);
  mine = *result;
  world.everybody().sync();
  world.memory().release(result);
  world.memory().release(target);
  return mine;
}

// Found out for the first aggregation of a job; the links stay the same.
known_link link_between_nodes(fabric::world& world) {
  if (world.places().nodes() == 1) return {};
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

// What an item costs by each route that `wanted` leaves, with the link as predicted and as it is known in `here`.
void note_routes(plan& made, fabric::world& world, const model::machine& here, const model::link_costs& predicted,
                 const wanted_route& wanted, const model::buffer_limits& limits) {
  model::machine by_constants = here;
  by_constants.link = predicted;
  for (const buffering kind : {buffering::per_pe, buffering::per_node})
    for (int hops = 1; hops <= 3; ++hops) {
      const auto buffers = kind == buffering::per_node ? aggregate_buffers::per_node : aggregate_buffers::per_pe;
      if ((wanted.hops != 0 && wanted.hops != hops) ||
          (wanted.buffers != aggregate_buffers::by_setting && wanted.buffers != buffers))
        continue;
      const wanted_route one{.item_bytes = wanted.item_bytes, .buffers = buffers, .hops = hops};
      const auto cost = choose_route(world.places(), world.pes(), here, one, limits);
      const auto before = choose_route(world.places(), world.pes(), by_constants, one, limits);
      if (!cost || !before) continue;
      if (made.how == scheme{kind, hops}) made.taken = made.routes.size();
      made.routes.push_back({.name = (kind == buffering::per_node ? "per-node, " : "per-pe, ") + counted(hops, "hop"),
                             .predicted_ns = before->found.ns_per_item,
                             .corrected_ns = cost->found.ns_per_item});
    }
}

}  // namespace

bool has_threads() {
  int level = SHMEM_THREAD_SINGLE;
  shmem_query_thread(&level);
  return level == SHMEM_THREAD_MULTIPLE;
}

std::optional<cheapest_route> choose_route(const job::layout& layout, int pes, const model::machine& on,
                                           const wanted_route& wanted, model::buffer_limits limits) {
  constexpr std::size_t usual_bytes = 60;  // of items of any size
  const std::size_t item_bytes = wanted.item_bytes == 0 ? usual_bytes : wanted.item_bytes;
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
                        .demand = demand_of(way)});
    }
  const auto found = model::choose(on, routes, limits);
  if (!found) return std::nullopt;
  return cheapest_route{schemes[found->route], *found};
}

std::size_t memory_allowed(const aggregate_options& options) {
  return set_or(options.memory_bytes, "LULL_AGGREGATE_MEMORY");
}

plan make_plan(fabric::world& world, const aggregate_options& options, std::size_t item_bytes) {
  if (options.hops < 0 || options.hops > 3)
    throw std::invalid_argument("an aggregator of " + std::to_string(options.hops) + " hops; there may be 1, 2 or 3");
  const known_link link = link_between_nodes(world);
  model::machine here = model::this_machine();
  here.link = link.corrected;
  here.aggregation.l2_bytes = this_topology().l2_bytes;

  wanted_route wanted{.item_bytes = item_bytes, .buffers = options.buffers, .hops = options.hops};
  if (const std::string set = setting_text("LULL_AGGREGATE");
      wanted.buffers == aggregate_buffers::by_setting && set != "auto")
    wanted.buffers = set == "per-node" ? aggregate_buffers::per_node : aggregate_buffers::per_pe;
  if (wanted.hops == 0) wanted.hops = static_cast<int>(setting_integer("LULL_AGGREGATE_HOPS"));

  const std::size_t allowed = memory_allowed(options);
  const std::size_t chunk_memory = has_threads() ? allowed / 4 : 0;
  const model::buffer_limits limits{.memory_bytes = allowed - chunk_memory,
                                    .least_bytes = 0,
                                    .per_channel = static_cast<std::size_t>(setting_integer("LULL_AGGREGATE_BUFFERS")),
                                    .set_bytes = set_or(options.buffer_bytes, "LULL_AGGREGATE_BUFFER_BYTES"),
                                    .pes_of_node = world.places().members(world.places().my_node()).size()};
  const auto choose = [&] { return choose_route(world.places(), world.pes(), here, wanted, limits); };
  auto best = choose();
  const bool per_node = best && best->how.buffers == buffering::per_node;
  // A PE alone on its node fills the node's buffers: then these are its own, and no item needs to say whose it is.
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
            .memory_bytes = best->found.memory_bytes,
            .chunk_memory = chunk_memory,
            .compress = options.compress >= 0 ? options.compress != 0 : setting_integer("LULL_AGGREGATE_COMPRESS") != 0,
            .direct = options.direct >= 0 ? options.direct != 0 : setting_integer("LULL_AGGREGATE_DIRECT") != 0,
            .flush_ns = 1000 * (options.flush_us >= 0 ? options.flush_us : setting_integer("LULL_AGGREGATE_FLUSH_US")),
            .per_node = per_node,
            .one_node = world.places().nodes() == 1};
  if (world.wait().has_table()) note_routes(made, world, here, link.predicted, wanted, limits);
  return made;
}

std::optional<model::choice_account> account_of_route(const plan& how, std::uint64_t items, double cpu_ns_per_item) {
  if (how.routes.size() < 2 || items == 0) return std::nullopt;
  model::choice_account account{.choice = "route", .per = "item", .alternatives = how.routes};
  const double beside = cpu_ns_per_item - how.ns_per_item;  // what an item takes besides its route is the same on each
  for (model::alternative_account& other : account.alternatives)
    *other.corrected_ns = std::max(0.0, *other.corrected_ns + beside);
  model::alternative_account& taken = account.alternatives[how.taken];
  taken.corrected_ns = how.ns_per_item;
  taken.observed_ns = cpu_ns_per_item;
  taken.operations = items;
  return account;
}

}  // namespace lull::aggregate
