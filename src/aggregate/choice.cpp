#include "aggregate/choice.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "aggregate/node_stage.hpp"
#include "aggregate/pe_stage.hpp"
#include "base/clock.hpp"
#include "base/settings.hpp"
#include "base/topology.hpp"
#include "fabric/collectives.hpp"
#include "fabric/team.hpp"
#include "shmem.h"

namespace lull::aggregate {
namespace {

// What a further stage adds to an item: histogram with 2 PEs on one node takes 9.5 ns of CPU time for an item in one
// stage, 15 to 16 in two.
constexpr double ns_per_item = 6;
constexpr std::size_t smallest_buffer = 512;
constexpr std::size_t near_buffer = 65536;
constexpr std::size_t smallest_far_buffer = 8192, largest_far_buffer = 262'144;
// A buffer is large enough when what it costs by itself is this share of what its bytes cost.
constexpr double acceptable_overhead = 0.05;

// What the stages of a route need, whatever the sizes of their buffers: known once, where sizes are tried.
class demand {
 public:
  explicit demand(const route& way) {
    for (int stage = 0; stage < way.stages(); ++stage)
      stages_.push_back({way.most_lanes(stage), way.between_nodes(stage)});
  }
  [[nodiscard]] std::size_t memory(const buffer_sizes& sizes) const {
    std::size_t bytes = 0;
    for (const auto& [most, between_nodes] : stages_)
      bytes += between_nodes ? node_stage::memory(most, sizes) : pe_stage::memory(most, sizes);
    return bytes;
  }

 private:
  struct lanes {
    lane_counts most;
    bool between_nodes;
  };
  std::vector<lanes> stages_;
};

// The largest sizes up to `wanted` that fit into `memory`; smaller than `least` when there are none.
buffer_sizes fitting(const demand& needs, buffer_sizes wanted, std::size_t memory, std::size_t least) {
  const auto halve = [&](std::size_t bytes) { return std::max(least, bytes / 2 / 64 * 64); };
  while (needs.memory(wanted) > memory) {
    if (wanted.far_bytes > wanted.near_bytes && wanted.far_bytes > least)
      wanted.far_bytes = halve(wanted.far_bytes);
    else if (wanted.near_bytes > least || wanted.far_bytes > least)
      wanted.near_bytes = halve(wanted.near_bytes), wanted.far_bytes = halve(wanted.far_bytes);
    else if (wanted.slots > 2)
      wanted.slots /= 2;
    else
      return {0, 0, 0};
  }
  return wanted;
}

link_costs measure(fabric::world& world) {
  constexpr int messages = 16;
  constexpr std::size_t small = 1024, large = 32768;
  const job::layout& places = world.places();
  const node_id here = places.my_node();
  auto* const target = static_cast<std::byte*>(world.memory().allocate(large));
  auto* const result = static_cast<std::array<double, 2>*>(world.memory().allocate(sizeof(std::array<double, 2>)));
  if (!target || !result) {
    if (target) world.memory().release(target);
    if (result) world.memory().release(result);
    throw std::bad_alloc();  // nor would there be room for buffers
  }
  std::vector<std::byte> source(large);
  world.everybody().sync();
  if (places.leader(here) == world.me()) {
    const pe_id peer = places.leader(node_id{(here.index() + 1) % places.nodes()});
    fabric::context traffic;
    const auto time = [&](std::size_t bytes) {
      const std::int64_t begin = now_ns();
      for (int i = 0; i < messages; ++i) world.transfers().put(traffic, target, source.data(), bytes, peer, false);
      world.transfers().quiet(traffic);
      return static_cast<double>(now_ns() - begin) / messages;
    };
    time(large);  // the connection is made by the first message
    std::array<double, 3> slow{}, fast{};
    for (std::size_t i = 0; i < slow.size(); ++i) fast[i] = time(small), slow[i] = time(large);
    std::ranges::sort(slow);
    std::ranges::sort(fast);
    const double per_byte = std::max(0.01, (slow[1] - fast[1]) / static_cast<double>(large - small));
    if (world.me().index() == 0)  // what it sends may arrive before the others have come as far
      *result = {std::max(100.0, fast[1] - static_cast<double>(small) * per_byte), per_byte};
  }
  fabric::broadcast(world.everybody(), result, result, sizeof *result, 0);
  const link_costs costs{(*result)[0], (*result)[1]};
  world.everybody().sync();
  world.memory().release(result);
  world.memory().release(target);
  return costs;
}

std::size_t set_or(std::size_t option, const char* setting) { return option != 0 ? option : setting_size(setting); }

bool has_threads() {
  int level = SHMEM_THREAD_SINGLE;
  shmem_query_thread(&level);
  return level == SHMEM_THREAD_MULTIPLE;
}

}  // namespace

std::size_t memory_allowed(const aggregate_options& options) {
  return set_or(options.memory_bytes, "LULL_AGGREGATE_MEMORY");
}

link_costs costs_of_links(fabric::world& world) {
  if (world.places().nodes() == 1) return {};
  static std::optional<link_costs> known;  // as the links, the same for the whole job
  if (!known) known = measure(world);
  return *known;
}

double cost_of(const link_costs& link, int stages, int between_nodes, std::size_t stride, std::size_t buffer_bytes) {
  return stages * ns_per_item + between_nodes * static_cast<double>(stride) *
                                    (link.ns_per_byte + link.ns_per_buffer / static_cast<double>(buffer_bytes));
}

choice choose(fabric::world& world, const aggregate_options& options, std::size_t item_bytes) {
  if (options.hops < 0 || options.hops > 3)
    throw std::invalid_argument("an aggregator of " + std::to_string(options.hops) + " hops; there may be 1, 2 or 3");
  const link_costs link = costs_of_links(world);
  const std::size_t allowed = memory_allowed(options);
  const std::size_t chunk_memory = has_threads() ? allowed / 4 : 0, memory = allowed - chunk_memory;
  const std::size_t asked = set_or(options.buffer_bytes, "LULL_AGGREGATE_SLOT");
  const std::size_t stride = item_bytes == 0 ? 64 : item_bytes + sizeof(std::uint32_t);
  const std::size_t least = (std::max(smallest_buffer, sizeof(slot_header) + stride) + 63) / 64 * 64;

  buffer_sizes wanted{.near_bytes = near_buffer,
                      .far_bytes = near_buffer,
                      .slots = static_cast<std::size_t>(setting_integer("LULL_AGGREGATE_SLOTS"))};
  if (asked != 0) {
    wanted.near_bytes = wanted.far_bytes = std::max(least, (asked + 63) / 64 * 64);
  } else {
    // The buffers being written, one per PE of this node, should stay in the core's own cache.
    const std::size_t here = world.places().members(world.places().my_node()).size();
    wanted.near_bytes =
        std::min(near_buffer, std::max(smallest_buffer, std::bit_floor(this_topology().l2_bytes / 2 / here)));
    if (item_bytes == 0) wanted.near_bytes = near_buffer;
    if (link.ns_per_byte > 0) {
      const auto enough = static_cast<std::size_t>(link.ns_per_buffer / link.ns_per_byte / acceptable_overhead);
      wanted.far_bytes = std::clamp(std::bit_ceil(enough), smallest_far_buffer, largest_far_buffer);
    }
    wanted.near_bytes = std::max(wanted.near_bytes, least);
    wanted.far_bytes = std::max(wanted.far_bytes, least);
  }

  const std::string set_buffers = setting_text("LULL_AGGREGATE");
  auto buffers = options.buffers;
  if (buffers == aggregate_buffers::by_setting && set_buffers != "auto")
    buffers = set_buffers == "per-node" ? aggregate_buffers::per_node : aggregate_buffers::per_pe;
  const int hops = options.hops != 0 ? options.hops : static_cast<int>(setting_integer("LULL_AGGREGATE_HOPS"));

  std::optional<choice> best;
  for (const buffering kind : {buffering::per_pe, buffering::per_node})
    for (int h = 1; h <= 3; ++h) {
      if (hops != 0 && hops != h) continue;
      if (buffers != aggregate_buffers::by_setting &&
          (buffers == aggregate_buffers::per_node) != (kind == buffering::per_node))
        continue;
      const scheme how{kind, h};
      const route way(world.places(), world.pes(), how);
      const demand needs(way);
      const buffer_sizes sizes = fitting(needs, wanted, memory, least);
      if (sizes.slots == 0) continue;
      const std::size_t travels = way.is_direct() ? stride - sizeof(std::uint32_t) : stride;
      const int far_hops = world.places().nodes() == 1 ? 0 : kind == buffering::per_node ? h : 1;
      const double cost = cost_of(link, way.stages(), far_hops, travels, sizes.far_bytes);
      if (!best || cost < best->ns_per_item)
        best = choice{.how = how,
                      .sizes = sizes,
                      .ns_per_item = cost,
                      .memory_bytes = needs.memory(sizes),
                      .chunk_memory = chunk_memory};
    }
  if (!best)
    throw std::invalid_argument("no aggregation buffers fit into " + std::to_string(allowed) +
                                " bytes; raise LULL_AGGREGATE_MEMORY");
  best->compress = options.compress >= 0 ? options.compress != 0 : setting_integer("LULL_AGGREGATE_COMPRESS") != 0;
  best->bypass = options.bypass >= 0 ? options.bypass != 0 : setting_integer("LULL_AGGREGATE_BYPASS") != 0;
  best->flush_ns = 1000 * (options.flush_us >= 0 ? options.flush_us : setting_integer("LULL_AGGREGATE_FLUSH_US"));
  return *best;
}

}  // namespace lull::aggregate
