// More hops pay only where they allow buffers so much larger that the saved messages cost more than the items passed
// on; buffers are as large as they are worth, or as memory allows; direct items pay while they are few.
#include "model/costs/aggregation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace lull::model {
namespace {

constexpr machine tcp = [] {
  machine made;
  made.link = {.ns_per_message = 10'000, .ns_per_byte = 1};
  return made;
}();
constexpr item_route one_hop{.hops = 1, .inter_node_hops = 1, .item_bytes = 8, .demand = {}};
constexpr item_route three_hops{.hops = 3, .inter_node_hops = 1, .item_bytes = 12, .demand = {}};

TEST(model_aggregation, full_buffers_of_equal_size_make_one_hop_the_cheapest) {
  EXPECT_LT(ns_per_item(tcp, one_hop, 65'536), ns_per_item(tcp, three_hops, 65'536));
}

TEST(model_aggregation, buffers_that_would_become_small_make_more_hops_cheaper) {
  EXPECT_GT(ns_per_item(tcp, one_hop, 512), ns_per_item(tcp, three_hops, 16'384));
}

TEST(model_aggregation, a_message_costs_its_share_of_each_item_in_it) {
  EXPECT_DOUBLE_EQ(ns_per_item(tcp, one_hop, 8000) - ns_per_item(tcp, one_hop, 16'000), 10'000 * 8 / 16'000.0);
}

TEST(model_aggregation, a_buffer_that_pes_of_a_node_fill_together_costs_each_item_more) {
  item_route shared = one_hop;
  shared.shared_hops = 1;
  EXPECT_DOUBLE_EQ(ns_per_item(tcp, shared, 8000) - ns_per_item(tcp, one_hop, 8000),
                   tcp.aggregation.ns_per_item_of_shared_buffer);
}

TEST(model_aggregation, a_phase_ends_with_a_last_message_on_each_channel_a_notice_of_each_and_the_wait_for_anothers) {
  item_route way = one_hop;
  way.last_messages = 3;
  EXPECT_DOUBLE_EQ(ns_per_phase(tcp, way), tcp.aggregation.ns_per_empty_phase + 4 * (3 + 1) * 10'000);
  EXPECT_DOUBLE_EQ(ns_per_phase(tcp, three_hops), 3 * tcp.aggregation.ns_per_empty_phase);
}

constexpr buffer_limits roomy{.memory_bytes = std::size_t{1} << 30U, .least_bytes = 40, .per_channel = 8};

TEST(model_aggregation, a_buffer_between_nodes_is_large_enough_when_its_message_costs_little_of_it) {
  const std::array ways{one_hop};
  const auto bytes = [&](double ns_per_message) {
    machine on = tcp;
    on.link.ns_per_message = ns_per_message;
    return choose(on, ways, roomy)->sizes.inter_node_bytes;
  };
  EXPECT_EQ(bytes(1), tcp.aggregation.smallest_inter_node_buffer_bytes);
  EXPECT_EQ(bytes(1600), 32'768U) << "1600 / 1 / 0.05 bytes and no fewer";
  EXPECT_EQ(bytes(1e6), tcp.aggregation.largest_inter_node_buffer_bytes);
}

TEST(model_aggregation, without_other_nodes_all_buffers_are_as_large_as_within_a_node) {
  const std::array ways{one_hop};
  const auto found = choose({}, ways, roomy);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->sizes.intra_node_bytes, 65'536U);
  EXPECT_EQ(found->sizes.inter_node_bytes, 65'536U);
}

TEST(model_aggregation, scarce_memory_makes_buffers_smaller_before_it_makes_them_fewer) {
  item_route way = one_hop;
  way.demand = {.intra_node_channels = 10, .inter_node_channels = 10};
  const std::array ways{way};
  const auto sizes = [&](std::size_t memory) {
    buffer_limits limits = roomy;
    limits.memory_bytes = memory;
    return choose(tcp, ways, limits)->sizes;
  };
  const buffer_sizes some = sizes(8 * 10 * (16'384 + 16'384));
  EXPECT_EQ(some.intra_node_bytes, 16'384U);
  EXPECT_EQ(some.inter_node_bytes, 16'384U);
  EXPECT_EQ(some.per_channel, 8U);
  const buffer_sizes few = sizes(4 * 10 * (512 + 512));
  EXPECT_EQ(few.intra_node_bytes, 512U);
  EXPECT_EQ(few.per_channel, 4U);
}

TEST(model_aggregation, open_buffers_of_a_node_fill_no_more_than_half_of_a_cores_cache) {
  const std::array ways{one_hop};
  buffer_limits limits = roomy;
  limits.pes_of_node = 64;
  EXPECT_EQ(choose(tcp, ways, limits)->sizes.intra_node_bytes, tcp.aggregation.l2_bytes / 2 / 64);
}

TEST(model_aggregation, what_is_set_is_taken_in_whole_cache_lines_and_holds_an_item) {
  const std::array ways{one_hop};
  buffer_limits limits = roomy;
  limits.set_bytes = 3000;
  EXPECT_EQ(choose(tcp, ways, limits)->sizes.inter_node_bytes, 3008U);
  limits.set_bytes = 1;
  limits.least_bytes = 1000;
  EXPECT_EQ(choose(tcp, ways, limits)->sizes.inter_node_bytes, 1024U);
}

TEST(model_aggregation, memory_bounds_what_is_chosen_and_too_little_chooses_nothing) {
  item_route dear = one_hop;
  dear.demand = {.inter_node_channels = 1000, .fixed_bytes = 100};
  item_route frugal = three_hops;
  frugal.demand = {.inter_node_channels = 10, .fixed_bytes = 100};
  const std::vector ways{dear, frugal};
  buffer_limits limits = roomy;
  EXPECT_EQ(choose(tcp, ways, limits)->route, 0U);
  limits.memory_bytes = 8'000'000;
  const auto found = choose(tcp, ways, limits);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->route, 1U);
  EXPECT_LE(found->memory_bytes, limits.memory_bytes);
  EXPECT_EQ(found->memory_bytes, frugal.demand.memory(found->sizes));
  limits.memory_bytes = 2 * 10 * 512 + 99;
  EXPECT_FALSE(choose(tcp, ways, limits)) << "two buffers of each channel, and what is fixed, do not fit";
}

TEST(model_aggregation, stages_of_small_items_are_as_large_as_an_eighth_of_the_cache_and_what_buffers_leave_allow) {
  const aggregation_costs& costs = tcp.aggregation;
  const buffered_route found{
      .route = 0, .sizes = {65'536, 65'536, 8}, .ns_per_item = 6, .ns_per_phase = 0, .memory_bytes = 1'000'000};
  EXPECT_EQ(stage_bytes(tcp, roomy, found, 8, 8), costs.usual_stage_bytes);
  EXPECT_EQ(stage_bytes(tcp, roomy, found, 0, 8), 0U) << "alone on its node";
  EXPECT_EQ(stage_bytes(tcp, roomy, found, 8, 0), 0U) << "of any size";
  EXPECT_EQ(stage_bytes(tcp, roomy, found, 8, 64), 0U) << "a line each";
  EXPECT_EQ(stage_bytes(tcp, roomy, found, 200, 8), 512U) << "655 bytes of the cache for each";
  EXPECT_EQ(stage_bytes(tcp, roomy, found, 300, 8), 0U);
  const buffer_limits tight{.memory_bytes = 1'009'000, .least_bytes = 40, .per_channel = 8};
  EXPECT_EQ(stage_bytes(tcp, tight, found, 8, 8), 1024U);
  buffered_route small = found;
  small.sizes.intra_node_bytes = 1024;
  EXPECT_EQ(stage_bytes(tcp, roomy, small, 8, 8), 0U) << "an eighth of the buffer would be less than a stage is worth";
}

TEST(model_aggregation, direct_items_for_other_nodes_cost_messages_and_the_others_what_they_do_within_a_node) {
  const aggregation_costs& here = tcp.aggregation;
  const auto alone = predicted_direct_path(tcp, 4, 4, true, 123);
  EXPECT_DOUBLE_EQ(alone.empty_phase_ns, 123);
  EXPECT_DOUBLE_EQ(alone.barrier_ns, here.ns_per_barrier);
  EXPECT_DOUBLE_EQ(alone.ns_per_direct_item(), here.ns_per_direct_item);
  const auto puts = predicted_direct_path(tcp, 8, 2, false, 123);
  EXPECT_DOUBLE_EQ(puts.barrier_ns, here.ns_per_barrier + 2 * 10'000);
  EXPECT_DOUBLE_EQ(puts.ns_per_direct_item(), 0.25 * here.ns_per_direct_item + 0.75 * 10'000);
  const auto gets = predicted_direct_path(tcp, 8, 2, true, 123);
  EXPECT_DOUBLE_EQ(gets.ns_per_direct_item(), 0.25 * here.ns_per_direct_item + 0.75 * 2 * 10'000);
}

TEST(model_aggregation, a_phase_costs_its_end_and_its_items_and_those_of_pes_of_a_core_in_turn) {
  const direct_path_costs costs{
      .empty_phase_ns = 11'000, .barrier_ns = 1000, .ns_per_near_item = 105, .pes_per_core = 2};
  EXPECT_DOUBLE_EQ(ns_of_direct_phase(costs, 10), 1000 + 2 * 10 * 105);
  EXPECT_DOUBLE_EQ(ns_of_buffered_phase(costs, 10, 5), 11'000 + 2 * 10 * 5);
}

TEST(model_aggregation, direct_items_pay_until_they_cost_what_the_end_of_a_buffered_phase_does) {
  direct_path_costs costs{.empty_phase_ns = 11'000, .barrier_ns = 1000, .ns_per_near_item = 105};
  const auto items = [](const direct_budget& of) { return of.whole / of.near; };
  EXPECT_EQ(items(budget_of_direct_phase(costs, 5)), 100U);
  EXPECT_EQ(budget_of_direct_phase(costs, 105).near, 0U) << "any number of items";
  costs.pes_per_core = 4;
  EXPECT_EQ(items(budget_of_direct_phase(costs, 5)), 25U) << "four PEs of a core take turns";
  costs.barrier_ns = 12'000;
  EXPECT_EQ(budget_of_direct_phase(costs, 5).whole, 0U);
}

TEST(model_aggregation, an_item_that_stays_within_the_node_takes_less_of_the_budget_than_a_message) {
  const direct_path_costs costs{.empty_phase_ns = 101'000,
                                .barrier_ns = 1000,
                                .ns_per_near_item = 25,
                                .ns_per_far_item = 10'005,
                                .far_share = 0.5};
  const direct_budget found = budget_of_direct_phase(costs, 5);
  EXPECT_EQ(found.whole / found.near, 5000U);
  EXPECT_EQ(found.whole / found.far, 10U);
}

TEST(model_aggregation, large_items_are_copied_twice_through_buffers) {
  EXPECT_EQ(ns_of_copies(tcp, 8), 0);
  EXPECT_DOUBLE_EQ(ns_of_copies(tcp, 1024), 2 * 1024 * tcp.transforming.ns_per_copied_byte);
}

}  // namespace
}  // namespace lull::model
