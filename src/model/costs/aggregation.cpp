#include "model/costs/aggregation.hpp"

#include <algorithm>
#include <bit>

namespace lull::model {
namespace {

constexpr std::size_t line = 64;
constexpr double messages_of_one = 4;  // the buffer and the notice that it was handled, each sent and received
constexpr std::size_t whole_lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

buffer_sizes worth_having(const machine& on, const buffer_limits& limits, std::size_t least) {
  const aggregation_costs& costs = on.aggregation;
  if (limits.set_bytes != 0) {
    const std::size_t bytes = std::max(least, whole_lines(limits.set_bytes));
    return {bytes, bytes, limits.per_channel};
  }
  buffer_sizes sizes{costs.largest_intra_node_buffer_bytes, costs.largest_intra_node_buffer_bytes, limits.per_channel};
  // The buffers being written, one per PE of this node, should stay in the core's own cache.
  if (!limits.any_size)
    sizes.intra_node_bytes =
        std::min(costs.largest_intra_node_buffer_bytes,
                 std::max(costs.smallest_buffer_bytes, std::bit_floor(costs.l2_bytes / 2 / limits.pes_of_node)));
  if (on.link.ns_per_byte > 0) {
    const auto enough = static_cast<std::size_t>(on.link.ns_per_message / on.link.ns_per_byte / costs.message_share);
    sizes.inter_node_bytes = std::clamp(std::bit_ceil(enough), costs.smallest_inter_node_buffer_bytes,
                                        costs.largest_inter_node_buffer_bytes);
  }
  sizes.intra_node_bytes = std::max(sizes.intra_node_bytes, least);
  sizes.inter_node_bytes = std::max(sizes.inter_node_bytes, least);
  return sizes;
}

// The largest sizes up to `sizes` that fit into `memory`; none if not even two buffers of `least` bytes do.
std::optional<buffer_sizes> fitting(const buffer_demand& demand, buffer_sizes sizes, std::size_t memory,
                                    std::size_t least) {
  const auto halve = [&](std::size_t bytes) { return std::max(least, bytes / 2 / line * line); };
  while (demand.memory(sizes) > memory) {
    if (sizes.inter_node_bytes > sizes.intra_node_bytes && sizes.inter_node_bytes > least)
      sizes.inter_node_bytes = halve(sizes.inter_node_bytes);
    else if (sizes.intra_node_bytes > least || sizes.inter_node_bytes > least)
      sizes.intra_node_bytes = halve(sizes.intra_node_bytes), sizes.inter_node_bytes = halve(sizes.inter_node_bytes);
    else if (sizes.per_channel > 2)
      sizes.per_channel /= 2;
    else
      return std::nullopt;
  }
  return sizes;
}

}  // namespace

double ns_per_item(const machine& on, const item_route& way, std::size_t inter_node_buffer_bytes) {
  return on.aggregation.ns_per_item + (way.hops - 1) * on.aggregation.ns_per_item_passed_on +
         way.shared_hops * on.aggregation.ns_per_item_of_shared_buffer +
         way.inter_node_hops * static_cast<double>(way.item_bytes) *
             (on.link.ns_per_byte + on.link.ns_per_message / static_cast<double>(inter_node_buffer_bytes));
}

double ns_per_phase(const machine& on, const item_route& way) {
  const double waited_for = way.last_messages > 0 ? 1 : 0;
  return way.hops * on.aggregation.ns_per_empty_phase +
         messages_of_one * (way.last_messages + waited_for) * on.link.ns_per_message;
}

std::optional<buffered_route> choose(const machine& on, std::span<const item_route> candidates,
                                     const buffer_limits& limits) {
  const std::size_t least = whole_lines(std::max(on.aggregation.smallest_buffer_bytes, limits.least_bytes));
  const buffer_sizes wanted = worth_having(on, limits, least);
  std::optional<buffered_route> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const item_route& way = candidates[i];
    const auto sizes = fitting(way.demand, wanted, limits.memory_bytes, least);
    if (!sizes) continue;
    const double cost = ns_per_item(on, way, sizes->inter_node_bytes);
    if (!best || cost < best->ns_per_item)
      best = buffered_route{i, *sizes, cost, ns_per_phase(on, way), way.demand.memory(*sizes)};
  }
  return best;
}

std::size_t stage_bytes(const machine& on, const buffer_limits& limits, const buffered_route& found,
                        std::size_t channels, std::size_t item_bytes) {
  const aggregation_costs& costs = on.aggregation;
  if (channels == 0 || item_bytes == 0 || item_bytes >= line) return 0;
  const std::size_t all = std::min(costs.l2_bytes / 8, limits.memory_bytes - found.memory_bytes);
  const std::size_t bytes =
      std::bit_floor(std::min({costs.usual_stage_bytes, all / channels, found.sizes.intra_node_bytes / 8}));
  return bytes < costs.smallest_stage_bytes ? 0 : bytes;
}

direct_path_costs predicted_direct_path(const machine& on, int pes, int pes_of_node, bool gets, double empty_phase_ns) {
  const aggregation_costs& here = on.aggregation;
  const double elsewhere = static_cast<double>(pes - pes_of_node) / pes;  // share of the items
  const double message = elsewhere > 0 ? on.link.ns_per_message : 0;
  return {.empty_phase_ns = empty_phase_ns,
          .barrier_ns = here.ns_per_barrier + 2 * message,
          .ns_per_near_item = here.ns_per_direct_item,
          .ns_per_far_item = (gets ? 2 : 1) * message,
          .far_share = elsewhere};
}

double ns_of_direct_phase(const direct_path_costs& costs, double items) {
  return costs.barrier_ns + costs.pes_per_core * items * costs.ns_per_direct_item();
}

double ns_of_buffered_phase(const direct_path_costs& costs, double items, double ns_per_buffered_item) {
  return costs.empty_phase_ns + costs.pes_per_core * items * ns_per_buffered_item;
}

direct_budget budget_of_direct_phase(const direct_path_costs& costs, double ns_per_buffered_item) {
  constexpr double units_per_ns = 100, longest_ns = 1e7;
  const auto price = [&](double ns_per_direct_item) {
    const double loss = costs.pes_per_core * (ns_per_direct_item - ns_per_buffered_item);
    return static_cast<std::uint32_t>(units_per_ns * std::clamp(loss, 0.0, longest_ns));
  };
  return {.whole = static_cast<std::uint64_t>(units_per_ns * std::max(0.0, costs.empty_phase_ns - costs.barrier_ns)),
          .near = price(costs.ns_per_near_item),
          .far = price(costs.ns_per_far_item)};
}

double ns_of_copies(const machine& on, std::size_t item_bytes) {
  return item_bytes <= line ? 0 : 2 * static_cast<double>(item_bytes) * on.transforming.ns_per_copied_byte;
}

}  // namespace lull::model
