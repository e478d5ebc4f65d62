// Every route takes every item to its PE, over channels known to both ends, for nodes of equal and unequal size.
#include "aggregate/channels/route.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace lull::aggregate {
namespace {

job::layout nodes_of(const std::vector<int>& sizes) {
  std::vector<job::place> places;
  for (std::size_t node = 0; node < sizes.size(); ++node)
    places.insert(places.end(), static_cast<std::size_t>(sizes[node]), {static_cast<int>(node), 0});
  return {places, pe_id{0}};
}

template <class Id>
bool contains(const std::vector<Id>& all, Id one) {
  return std::ranges::binary_search(all, one);
}

// Expects the channel from `at` to `next` at both ends.
void expect_a_channel(const route& way, const job::layout& places, int hop, pe_id at, pe_id next) {
  if (way.between_nodes(hop)) {
    const node_id here = places.node_of(at), there = places.node_of(next);
    EXPECT_TRUE(contains(way.targets(hop, here), there));
    EXPECT_TRUE(contains(way.sources(hop, there), here));
  } else {
    EXPECT_TRUE(contains(way.targets(hop, at), next)) << hop << ": " << at.index() << " to " << next.index();
    EXPECT_TRUE(contains(way.sources(hop, next), at));
  }
}

class routes : public testing::TestWithParam<std::vector<int>> {};

TEST_P(routes, bring_every_item_to_its_pe_over_lanes_that_both_ends_know) {
  const job::layout places = nodes_of(GetParam());
  int pes = 0;
  for (const int size : GetParam()) pes += size;
  for (const buffering buffers : {buffering::per_pe, buffering::per_node})
    for (int hops = 1; hops <= 3; ++hops) {
      const route way(places, pes, {buffers, hops});
      for (int from = 0; from < pes; ++from)
        for (int to = 0; to < pes; ++to) {
          pe_id at{from};
          for (int hop = 0; hop < way.hops();) {
            const auto step = way.next(hop, at, pe_id{to});
            ASSERT_GE(step.hop, hop);
            expect_a_channel(way, places, step.hop, at, step.next);
            at = way.between_nodes(step.hop) ? way.owner(places.node_of(step.next), places.node_of(at)) : step.next;
            hop = step.hop + 1;
          }
          EXPECT_EQ(at.index(), to);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(layouts, routes,
                         testing::Values(std::vector{1}, std::vector{4}, std::vector{1, 1}, std::vector{2, 2},
                                         std::vector{2, 3}, std::vector{3, 1, 2}, std::vector{2, 2, 2, 2, 2},
                                         std::vector{1, 1, 1, 1, 1, 1, 1}, std::vector{4, 4, 4, 4, 4, 4, 4, 4, 4, 4}));

// The nodes to which a hop leads from `at`.
std::vector<int> targets_of(const node_grid& grid, int hop, int at) {
  std::vector<int> found;
  grid.visit_targets(hop, at, [&](node_range r) {
    for (int node = r.begin; node < r.end; ++node) found.push_back(node);
    return true;
  });
  std::ranges::sort(found);
  return found;
}

TEST(route, an_idle_hop_leads_nowhere_and_the_others_are_those_of_one_hop_less) {
  int idle = 0;
  for (int nodes = 2; nodes <= 30; ++nodes)
    for (int hops = 1; hops <= 3; ++hops) {
      const node_grid grid(nodes, hops);
      if (!grid.has_idle_hop()) continue;
      ++idle;
      const node_grid fewer(nodes, hops - 1);
      for (int at = 0; at < nodes; ++at) {
        EXPECT_EQ(targets_of(grid, 0, at), std::vector{at}) << nodes << " nodes, " << hops << " hops";
        for (int hop = 1; hop < hops; ++hop) EXPECT_EQ(targets_of(grid, hop, at), targets_of(fewer, hop - 1, at));
      }
    }
  EXPECT_EQ(idle, 5) << "2 hops between 2 nodes; 3 hops between 2, 3, 4 and 9";
  EXPECT_FALSE(node_grid(2, 1).has_idle_hop());
}

TEST(route, one_hop_between_pes_needs_no_address) {
  const job::layout places = nodes_of({2, 2});
  EXPECT_TRUE(route(places, 4, {buffering::per_pe, 1}).is_direct());
  EXPECT_FALSE(route(places, 4, {buffering::per_node, 1}).is_direct());
}

TEST(route, buffers_per_node_need_fewer_lanes_with_more_hops) {
  const job::layout places = nodes_of(std::vector<int>(64, 4));
  const auto channels = [&](int hops) {
    const route way(places, 256, {buffering::per_node, hops});
    std::size_t sum = 0;
    for (int hop = 0; hop < hops; ++hop) sum += way.targets(hop, node_id{0}).size();
    return sum;
  };
  EXPECT_EQ(channels(1), 63U);
  EXPECT_EQ(channels(2), 14U);
  EXPECT_EQ(channels(3), 9U);
}

}  // namespace
}  // namespace lull::aggregate
