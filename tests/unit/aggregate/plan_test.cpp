// The chosen route and buffers, for various layouts, links, items and memory limits, as recorded when the choice was
// last known to be good. A change of the model's constants changes the record; a change of structure must not.
#include "aggregate/plan/plan.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace lull::aggregate {
namespace {

struct recorded {
  int nodes, pes_of_node;
  model::link_costs link;
  std::size_t item_bytes, memory, set_bytes, per_channel, l2_bytes;
  int set_kind, set_hops;  // 0: not set
  int kind, hops;
  std::size_t intra_node_bytes, inter_node_bytes, buffers;
  double ns_per_item;
  std::size_t memory_bytes;
};

const std::vector<recorded> records{
#include "aggregate/recorded_routes.inc"
};

TEST(plan, chooses_the_recorded_route_and_buffers) {
  for (const recorded& r : records) {
    std::vector<job::place> places;
    const int pes = r.nodes * r.pes_of_node;
    places.reserve(static_cast<std::size_t>(pes));
    for (int pe = 0; pe < pes; ++pe) places.push_back({pe / r.pes_of_node, 0});
    model::machine on;
    on.link = r.link;
    on.aggregation.l2_bytes = r.l2_bytes;
    const auto chosen = choose_route(
        job::layout(places, pe_id{0}), pes, on,
        {.item_bytes = r.item_bytes, .buffers = static_cast<aggregate_buffers>(r.set_kind), .hops = r.set_hops},
        {.memory_bytes = r.memory,
         .least_bytes = 0,
         .per_channel = r.per_channel,
         .set_bytes = r.set_bytes,
         .pes_of_node = static_cast<std::size_t>(r.pes_of_node)});
    ASSERT_TRUE(chosen);
    const scheme how{r.kind == 2 ? buffering::per_node : buffering::per_pe, r.hops};
    EXPECT_EQ(chosen->how, how) << r.nodes << " nodes of " << r.pes_of_node << ", " << r.memory << " bytes";
    EXPECT_EQ(chosen->found.sizes.intra_node_bytes, r.intra_node_bytes);
    EXPECT_EQ(chosen->found.sizes.inter_node_bytes, r.inter_node_bytes);
    EXPECT_EQ(chosen->found.sizes.per_channel, r.buffers);
    EXPECT_DOUBLE_EQ(chosen->found.ns_per_item, r.ns_per_item);
    EXPECT_EQ(chosen->found.memory_bytes, r.memory_bytes);
  }
}

// 2 nodes of 2 PEs on one host of 2 cores: each core sends for two PEs, or for one node.
TEST(plan, routes_differ_in_the_messages_that_end_a_phase) {
  const std::vector<job::place> places{{0, 0}, {0, 0}, {1, 0}, {1, 0}};
  const job::layout layout(places, pe_id{0});
  model::machine on;
  on.link = {.ns_per_message = 1000, .ns_per_byte = 1};
  const auto messages = [&](aggregate_buffers buffers, int hops) {
    const auto chosen =
        choose_route(layout, 4, on, {.item_bytes = 8, .buffers = buffers, .hops = hops, .pes_per_core = 2},
                     {.memory_bytes = std::size_t{1} << 26U, .least_bytes = 0, .per_channel = 8, .pes_of_node = 2});
    const int stages = hops + (buffers == aggregate_buffers::per_node ? 1 : 0);
    return (chosen->found.ns_per_phase - stages * on.aggregation.ns_per_empty_phase) / 4000 - 1;  // the one awaited
  };
  EXPECT_DOUBLE_EQ(messages(aggregate_buffers::per_pe, 1), 4) << "to each PE of the other node, from each";
  EXPECT_DOUBLE_EQ(messages(aggregate_buffers::per_pe, 2), 2) << "to one PE of the other node, from each";
  EXPECT_DOUBLE_EQ(messages(aggregate_buffers::per_node, 1), 1) << "to the other node, from each";
}

}  // namespace
}  // namespace lull::aggregate
