// What is worth being coalesced or copied follows from what messages and copies cost, with hysteresis.
#include "model/transforming.hpp"

#include <gtest/gtest.h>

namespace lull::model {
namespace {

constexpr put_costs tcp{.ns_per_message = 3000, .ns_per_copied_byte = 0.2};

TEST(model_transforming, puts_that_come_alone_are_not_coalesced) {
  EXPECT_EQ(largest_coalesced(1, tcp, 16384, false), 0U);
  EXPECT_EQ(largest_coalesced(1, tcp, 16384, true), 0U);
}

TEST(model_transforming, it_takes_a_longer_run_to_begin_than_to_go_on) {
  EXPECT_EQ(largest_coalesced(3, tcp, 16384, false), 0U);
  EXPECT_GT(largest_coalesced(3, tcp, 16384, true), 0U);
  EXPECT_GT(largest_coalesced(4, tcp, 16384, false), 0U);
}

TEST(model_transforming, the_largest_is_where_the_copy_costs_what_the_message_would) {
  const std::size_t bytes = largest_coalesced(64, tcp, 16384, true);
  const double spared = 3000 * (1 - 1.0 / 64) - transforming_costs{}.ns_per_coalesced_put;
  EXPECT_NEAR(static_cast<double>(bytes) * (0.2 + 3000.0 / 16384), spared, 1);
}

TEST(model_transforming, cheap_messages_and_slow_copies_leave_less_to_coalesce) {
  const std::size_t usual = largest_coalesced(64, tcp, 16384, true);
  EXPECT_LT(largest_coalesced(64, {.ns_per_message = 300, .ns_per_copied_byte = 0.2}, 16384, true), usual);
  EXPECT_LT(largest_coalesced(64, {.ns_per_message = 3000, .ns_per_copied_byte = 2}, 16384, true), usual);
  EXPECT_EQ(largest_coalesced(64, {.ns_per_message = 20, .ns_per_copied_byte = 0.2}, 16384, true), 0U);
}

TEST(model_transforming, nothing_is_coalesced_into_messages_of_no_size) {
  EXPECT_EQ(largest_coalesced(64, tcp, 0, true), 0U);
}

TEST(model_transforming, a_put_in_a_message_of_many_has_its_share_of_it) {
  const double put = transforming_costs{}.ns_per_coalesced_put;
  EXPECT_DOUBLE_EQ(ns_of_coalesced(0, 1, tcp), 3000 + put);
  EXPECT_DOUBLE_EQ(ns_of_coalesced(100, 30, tcp), 100 + put + 20);
}

}  // namespace
}  // namespace lull::model
