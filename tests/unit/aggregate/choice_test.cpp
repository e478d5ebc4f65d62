// More hops pay only where they allow buffers so much larger that the messages saved cost more than the items passed
// on.
#include "aggregate/choice.hpp"

#include <gtest/gtest.h>

namespace lull::aggregate {
namespace {

constexpr link_costs tcp{.ns_per_buffer = 10'000, .ns_per_byte = 1};

TEST(choice, full_buffers_of_equal_size_make_one_hop_the_cheapest) {
  EXPECT_LT(cost_of(tcp, 1, 1, 8, 65'536), cost_of(tcp, 3, 1, 12, 65'536));
}

TEST(choice, buffers_that_would_become_small_make_more_hops_cheaper) {
  EXPECT_GT(cost_of(tcp, 1, 1, 8, 512), cost_of(tcp, 3, 1, 12, 16'384));
}

TEST(choice, a_buffer_costs_its_share_of_each_item_in_it) {
  EXPECT_DOUBLE_EQ(cost_of(tcp, 1, 1, 8, 8000) - cost_of(tcp, 1, 1, 8, 16'000), 10'000 * 8 / 16'000.0);
}

}  // namespace
}  // namespace lull::aggregate
