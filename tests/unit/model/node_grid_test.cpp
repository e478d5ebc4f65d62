// Channels between nodes in a grid: the ranges agree with the hops of items, for every number of nodes.
#include "model/costs/node_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace lull::model {
namespace {

using nodes_seen = std::set<int>;

// The nodes in disjoint ranges.
template <class Ask>
nodes_seen visited(Ask ask) {
  nodes_seen found;
  ask([&](node_range r) {
    EXPECT_LT(r.begin, r.end);
    for (int node = r.begin; node < r.end; ++node) EXPECT_TRUE(found.insert(node).second) << "visited twice: " << node;
    return true;
  });
  return found;
}

nodes_seen targets(const node_grid& grid, int hop, int at) {
  return visited([&](auto visit) { grid.visit_targets(hop, at, visit); });
}

nodes_seen sources(const node_grid& grid, int hop, int at) {
  return visited([&](auto visit) { grid.visit_sources(hop, at, visit); });
}

// The destinations of items between all pairs of nodes at each hop, by hop and node.
std::map<std::pair<int, int>, nodes_seen> walked(const node_grid& grid, int nodes, int hops) {
  std::map<std::pair<int, int>, nodes_seen> found;
  for (int from = 0; from < nodes; ++from)
    for (int to = 0; to < nodes; ++to) {
      int at = from;
      for (int hop = 0; hop < hops; ++hop) {
        const int next = grid.towards(hop, at, to);
        found[{hop, at}].insert(next);
        at = next;
      }
      EXPECT_EQ(at, to);
    }
  return found;
}

template <class Check>
void for_all_grids(Check check) {
  for (int nodes = 1; nodes <= 40; ++nodes)
    for (int hops = 1; hops <= 4; ++hops) {
      SCOPED_TRACE(testing::Message() << nodes << " nodes, " << hops << " hops");
      check(node_grid(nodes, hops), nodes, hops);
    }
}

TEST(node_grid, is_as_narrow_as_holds_all_nodes) {
  for_all_grids([](const node_grid& grid, int nodes, int hops) {
    EXPECT_GE(std::pow(grid.width(), hops), nodes);
    EXPECT_LT(std::pow(grid.width() - 1, hops), nodes);
  });
}

TEST(node_grid, a_node_has_channels_to_where_items_go_and_to_no_other) {
  for_all_grids([](const node_grid& grid, int nodes, int hops) {
    const auto seen = walked(grid, nodes, hops);
    for (int hop = 0; hop < hops; ++hop)
      for (int at = 0; at < nodes; ++at) {
        nodes_seen expected = seen.contains({hop, at}) ? seen.at({hop, at}) : nodes_seen{};
        expected.insert(at);
        EXPECT_EQ(targets(grid, hop, at), expected) << "hop " << hop << " at " << at;
      }
  });
}

TEST(node_grid, sources_are_those_whose_target_one_is) {
  for_all_grids([](const node_grid& grid, int nodes, int hops) {
    for (int hop = 0; hop < hops; ++hop)
      for (int at = 0; at < nodes; ++at) {
        nodes_seen expected;
        for (int from = 0; from < nodes; ++from)
          if (targets(grid, hop, from).contains(at)) expected.insert(from);
        EXPECT_EQ(sources(grid, hop, at), expected) << "hop " << hop << " at " << at;
      }
  });
}

TEST(node_grid, a_column_is_named_by_its_first_node_and_has_channels_to_all_of_itself) {
  for_all_grids([](const node_grid& grid, int nodes, int hops) {
    for (int hop = 0; hop < hops; ++hop)
      for (int at = 0; at < nodes; ++at) {
        const int first = grid.column_of(hop, at);
        EXPECT_LE(first, at);
        EXPECT_EQ(grid.column_of(hop, first), first);
        EXPECT_TRUE(targets(grid, hop, at).contains(first));
      }
  });
}

// A block that consists of a single incomplete row has no others that could send to it.
TEST(node_grid, nodes_of_an_incomplete_row_beside_complete_ones_have_sources_outside_their_column_and_no_others_have) {
  for_all_grids([](const node_grid& grid, int nodes, int hops) {
    for (int hop = 0; hop < hops; ++hop)
      for (int at = 0; at < nodes; ++at) {
        const nodes_seen from = sources(grid, hop, at);
        const int column = grid.column_of(hop, at);
        const bool outside = std::ranges::any_of(from, [&](int one) { return grid.column_of(hop, one) != column; });
        EXPECT_EQ(outside, grid.in_incomplete_row(hop, at) && column != at) << "hop " << hop << " at " << at;
      }
  });
}

TEST(node_grid, a_visit_ends_when_the_visitor_has_seen_enough) {
  const node_grid grid(7, 2);  // rows 0 1 2, 3 4 5, 6
  for (const int at : {0, 1, 5, 6})
    for (int hop = 0; hop < 2; ++hop) {
      int asked = 0;
      const auto once = [&](node_range) { return ++asked < 1; };
      grid.visit_targets(hop, at, once);
      EXPECT_EQ(asked, 1);
      grid.visit_sources(hop, at, once);
      EXPECT_EQ(asked, 2);
    }
}

TEST(node_grid, a_hop_is_idle_where_one_less_makes_the_same_grid) {
  EXPECT_FALSE(node_grid(2, 1).has_idle_hop());
  EXPECT_FALSE(node_grid(5, 2).has_idle_hop());
  EXPECT_TRUE(node_grid(2, 2).has_idle_hop());
  EXPECT_TRUE(node_grid(4, 3).has_idle_hop());
  EXPECT_FALSE(node_grid(5, 3).has_idle_hop());
}

}  // namespace
}  // namespace lull::model
