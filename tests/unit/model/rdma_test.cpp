// The size from which a transfer is left to the network.
#include "model/costs/rdma.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace lull::model {
namespace {

constexpr put_costs seen{.ns_per_message = 3000, .ns_per_copied_byte = 0.1};

TEST(model_rdma, a_put_goes_that_way_from_where_its_second_copy_costs_as_much) {
  EXPECT_EQ(least_put_by_rdma(500, seen), 5000U);
  EXPECT_EQ(least_put_by_rdma(250, seen), 2500U);
}

TEST(model_rdma, both_ways_cost_the_same_where_one_begins) {
  EXPECT_DOUBLE_EQ(ns_of_put_by_message(5000, seen), ns_of_put_by_rdma(5000, 500, seen));
  EXPECT_DOUBLE_EQ(ns_of_put_by_rdma(5000, 500, seen, 0), ns_of_put_by_rdma(5000, 500, seen) - seen.ns_per_message);
  EXPECT_DOUBLE_EQ(ns_of_get_by_message(64, seen), ns_of_get_by_rdma(64, 6000, seen));
}

TEST(model_rdma, what_may_be_a_flag_is_a_message) {
  EXPECT_EQ(least_put_by_rdma(1, seen), rdma_costs{}.smallest_put_bytes);
}

TEST(model_rdma, no_byte_is_taken_to_cost_nothing) {
  EXPECT_LT(least_put_by_rdma(500, {.ns_per_message = 3000, .ns_per_copied_byte = 0}), std::size_t{1} << 20U);
}

TEST(model_rdma, a_get_goes_that_way_where_that_is_quicker_than_two_messages) {
  EXPECT_EQ(least_get_by_rdma(500, seen), 0U);
  EXPECT_EQ(least_get_by_rdma(7000, seen), SIZE_MAX);
}

}  // namespace
}  // namespace lull::model
