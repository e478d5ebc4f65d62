// What pays to be coalesced or copied follows from the costs of messages and copies, with hysteresis.
#include "model/costs/transforming.hpp"

#include <gtest/gtest.h>

namespace lull::model {
namespace {

constexpr put_costs tcp{.ns_per_message = 3000, .ns_per_copied_byte = 0.2};
constexpr message_room messages{.bytes = 16384, .beside_each = 8};

TEST(model_transforming, puts_that_come_alone_are_not_coalesced) {
  EXPECT_EQ(largest_coalesced(1, tcp, messages, false), 0U);
  EXPECT_EQ(largest_coalesced(1, tcp, messages, true), 0U);
}

TEST(model_transforming, it_takes_a_longer_run_to_begin_than_to_go_on) {
  EXPECT_EQ(largest_coalesced(3, tcp, messages, false), 0U);
  EXPECT_GT(largest_coalesced(3, tcp, messages, true), 0U);
  EXPECT_GT(largest_coalesced(4, tcp, messages, false), 0U);
}

TEST(model_transforming, the_largest_is_where_the_copy_costs_what_the_message_would) {
  const message_room wide{.bytes = std::size_t{1} << 30U, .beside_each = 8};
  const double spared = 3000 * (1 - 1.0 / 64) - transforming_costs{}.ns_per_coalesced_put;
  EXPECT_NEAR(static_cast<double>(largest_coalesced(64, tcp, wide, true)) * 0.2, spared, 1);
}

// Two puts of 7350 bytes leave in one message: each saves half of one. Larger ones save too little, and three do not
// fit.
TEST(model_transforming, only_whole_puts_share_a_message) {
  EXPECT_EQ(largest_coalesced(64, tcp, messages, true), 7350U);
}

TEST(model_transforming, what_leaves_no_room_for_another_is_not_coalesced) {
  constexpr put_costs quick_copies{.ns_per_message = 5000, .ns_per_copied_byte = 0};
  EXPECT_EQ(largest_coalesced(64, quick_copies, {.bytes = 61'440, .beside_each = 8}, true), 61'440U / 2 - 8);
}

TEST(model_transforming, cheap_messages_and_slow_copies_leave_less_to_coalesce) {
  const std::size_t usual = largest_coalesced(64, tcp, messages, true);
  EXPECT_LT(largest_coalesced(64, {.ns_per_message = 300, .ns_per_copied_byte = 0.2}, messages, true), usual);
  EXPECT_LT(largest_coalesced(64, {.ns_per_message = 3000, .ns_per_copied_byte = 2}, messages, true), usual);
  EXPECT_EQ(largest_coalesced(64, {.ns_per_message = 20, .ns_per_copied_byte = 0.2}, messages, true), 0U);
}

TEST(model_transforming, nothing_is_coalesced_into_messages_of_no_size) {
  EXPECT_EQ(largest_coalesced(64, tcp, {}, true), 0U);
}

TEST(model_transforming, a_put_in_a_message_of_many_has_its_share_of_it) {
  const double put = transforming_costs{}.ns_per_coalesced_put;
  EXPECT_DOUBLE_EQ(ns_of_coalesced(0, 1, tcp), 3000 + put);
  EXPECT_DOUBLE_EQ(ns_of_coalesced(100, 30, tcp), 100 + put + 20);
}

}  // namespace
}  // namespace lull::model
