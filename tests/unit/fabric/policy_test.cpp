#include "fabric/wait/policy.hpp"

#include <gtest/gtest.h>

namespace lull::fabric {
namespace {

TEST(wait_policy, poll_never_sleeps_and_yields_when_pes_outnumber_cores) {
  poll_policy alone{wait_limits{}};
  poll_policy crowded{wait_limits{.oversubscribed = true}};
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(alone.next(), step::spin);
    EXPECT_EQ(crowded.next(), step::yield);
  }
}

TEST(wait_policy, interrupt_spins_for_its_time_and_then_sleeps) {
  const std::int64_t begin = now_ns();
  interrupt_policy policy{wait_limits{.spin_ns = 2'000'000}};
  while (policy.next() == step::spin) {
  }
  EXPECT_GE(now_ns() - begin, 2'000'000);
  EXPECT_EQ(policy.next(), step::sleep);
}

TEST(wait_policy, interrupt_does_not_spin_when_pes_outnumber_cores) {
  interrupt_policy policy{wait_limits{.yields = 3, .oversubscribed = true}};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(policy.next(), step::yield);
  EXPECT_EQ(policy.next(), step::sleep);
}

}  // namespace
}  // namespace lull::fabric
