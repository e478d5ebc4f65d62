#include "mpi/waiting/epochs.hpp"

#include <gtest/gtest.h>

namespace lull::mpi {
namespace {

constexpr unsigned log2_length = 10;
constexpr std::uint64_t length = 1U << log2_length;

TEST(epochs, are_of_both_kinds_in_an_order_by_chance) {
  int first_with = 0;
  for (std::uint64_t epoch = 0; epoch < 2000; epoch += 2) {
    EXPECT_NE(epochs::policy_in(epoch), epochs::policy_in(epoch + 1));
    first_with += epochs::policy_in(epoch);
  }
  EXPECT_NEAR(first_with, 500, 60);
}

TEST(epochs, are_the_same_for_all_who_ask) {
  epochs one(log2_length), other(log2_length);
  for (std::uint64_t now = 5; now < 100 * length; now += length / 3)
    if (one.another_epoch(now)) {
      ASSERT_TRUE(other.another_epoch(now + 10));
      EXPECT_EQ(one.began({now, 0}), other.began({now + 10, 0}));
    } else {
      EXPECT_FALSE(other.another_epoch(now));
    }
}

// Calls every 64 ticks with the policy and every 128 without; half the CPU time with it.
TEST(epochs, count_calls_time_and_cpu_time_of_each_kind) {
  epochs of(log2_length);
  std::uint64_t now = 1000 * length;
  std::int64_t cpu = 0;
  bool policy = false;
  while (now < 1200 * length) {
    if (of.another_epoch(now)) policy = of.began({now, cpu});
    now += policy ? 64 : 128;
    cpu += policy ? 32 : 128;
  }
  EXPECT_GT(of.with_policy().epochs, 50U);
  EXPECT_GT(of.without().epochs, 50U);
  EXPECT_NEAR(of.with_policy().ticks / static_cast<double>(of.with_policy().calls), 64, 0.01);
  EXPECT_NEAR(of.without().ticks / static_cast<double>(of.without().calls), 128, 0.01);
  EXPECT_NEAR(static_cast<double>(of.with_policy().cpu_ns) / of.with_policy().ticks, 0.5, 0.01);
  EXPECT_NEAR(static_cast<double>(of.without().cpu_ns) / of.without().ticks, 1, 0.01);
}

TEST(epochs, one_without_a_call_in_the_next_does_not_count) {
  epochs of(log2_length);
  for (std::uint64_t epoch = 1000; epoch < 1200; epoch += 2)
    if (of.another_epoch(epoch * length)) of.began({epoch * length, 0});
  EXPECT_EQ(of.with_policy().epochs + of.without().epochs, 0U);
}

}  // namespace
}  // namespace lull::mpi
