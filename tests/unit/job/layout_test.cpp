#include "job/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace lull::job {
namespace {

TEST(layout, blocks_are_contiguous_never_empty_and_differ_by_at_most_one) {
  for (int count = 1; count <= 24; ++count) {
    for (int blocks = 1; blocks <= count; ++blocks) {
      std::vector<int> sizes(static_cast<std::size_t>(blocks));
      int before = 0;
      for (int position = 0; position < count; ++position) {
        const int block = block_of(position, count, blocks);
        ASSERT_GE(block, before);
        ASSERT_LT(block, blocks);
        before = block;
        ++sizes[static_cast<std::size_t>(block)];
      }
      const auto [smallest, largest] = std::ranges::minmax(sizes);
      EXPECT_GE(smallest, 1);
      EXPECT_LE(largest - smallest, 1);
    }
  }
}

TEST(layout, nodes_are_numbered_by_host_then_block_and_led_by_their_first_pe) {
  const std::vector<place> places{{1, 0}, {0, 0}, {0, 1}, {1, 0}};
  const layout nodes(places, pe_id{3});
  EXPECT_EQ(nodes.nodes(), 3);
  EXPECT_EQ(nodes.node_of(pe_id{1}), node_id{0});
  EXPECT_EQ(nodes.node_of(pe_id{2}), node_id{1});
  EXPECT_EQ(nodes.my_node(), node_id{2});
  EXPECT_EQ(nodes.leader(node_id{2}), pe_id{0});
  EXPECT_TRUE(nodes.shares_memory(pe_id{0}));
  EXPECT_FALSE(nodes.shares_memory(pe_id{1}));
}

}  // namespace
}  // namespace lull::job
