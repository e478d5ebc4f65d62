#include "wait/policies.hpp"

#include <gtest/gtest.h>

namespace lull::wait {
namespace {

std::int64_t fake_now = 0;

constexpr std::int64_t us = 1000;

class wait_policies : public testing::Test {
 protected:
  wait_policies() { fake_now = 1'000'000 * us; }
  wait_limits limits{.now = [] { return fake_now; }};
  wait_limits oversubscribed{.yields = 3, .oversubscribed = true, .now = [] { return fake_now; }};
  const awaited flag{operation::wait_until}, large{operation::put, 1 << 20};
  wait_history history;
  const wait_case alone_case{limits, flag, history}, oversubscribed_case{oversubscribed, flag, history};
};

TEST_F(wait_policies, poll_never_sleeps_and_yields_when_pes_outnumber_cores) {
  poll_policy alone{alone_case};
  poll_policy among_many{oversubscribed_case};
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(alone.next(false), step::spin);
    EXPECT_EQ(among_many.next(false), step::yield);
  }
}

// The duration of the spin when every check takes 1 us.
template <class Policy>
std::int64_t spun(Policy& policy, bool traffic_at_40_us = false) {
  const std::int64_t begin = fake_now;
  while (policy.next(traffic_at_40_us && fake_now == begin + 40 * us) == step::spin) fake_now += us;
  return fake_now - begin;
}

TEST_F(wait_policies, interrupt_spins_for_its_time_and_then_sleeps) {
  interrupt_policy policy{alone_case};
  EXPECT_NEAR(static_cast<double>(spun(policy)), 50e3, 16e3);
  EXPECT_EQ(policy.next(false), step::sleep);
  EXPECT_EQ(policy.plan().ns, limits.timeout_ns);
  EXPECT_FALSE(policy.plan().by_timer);
}

TEST_F(wait_policies, traffic_begins_the_spin_anew) {
  interrupt_policy policy{alone_case};
  EXPECT_NEAR(static_cast<double>(spun(policy, true)), 90e3, 16e3);
  EXPECT_EQ(policy.next(true), step::spin) << "also after a sleep";
}

TEST_F(wait_policies, the_pieces_of_a_large_transfer_begin_the_spin_anew_until_a_sleep) {
  interrupt_policy policy{wait_case{limits, large, history}};
  EXPECT_NEAR(static_cast<double>(spun(policy, true)), 90e3, 16e3);
  EXPECT_EQ(policy.next(true), step::sleep) << "pieces come more slowly than a spin lasts";
}

TEST_F(wait_policies, interrupt_does_not_spin_when_told_not_to) {
  limits.spin_ns = 0;
  interrupt_policy policy{alone_case};
  EXPECT_EQ(policy.next(false), step::sleep);
}

TEST_F(wait_policies, interrupt_does_not_spin_when_pes_outnumber_cores) {
  interrupt_policy policy{oversubscribed_case};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(policy.next(true), step::yield);
  EXPECT_EQ(policy.next(true), step::sleep);
}

TEST_F(wait_policies, a_long_yield_is_the_last) {
  interrupt_policy policy{oversubscribed_case};
  EXPECT_EQ(policy.next(false), step::yield);
  fake_now += 2000 * us;
  EXPECT_EQ(policy.next(false), step::sleep);
  EXPECT_EQ(policy.next(false), step::sleep);
}

TEST_F(wait_policies, adaptive_sleeps_until_the_margin_spins_across_the_end_and_sleeps_when_it_is_overdue) {
  const std::int64_t begin = fake_now;
  adaptive_policy policy{alone_case, model::slack_prediction{.slack_ns = 1000 * us, .margin_ns = 100 * us}};
  fake_now += 10 * us;
  EXPECT_EQ(policy.next(true), step::sleep);
  EXPECT_EQ(policy.plan().ns, 890 * us);
  EXPECT_TRUE(policy.plan().by_timer);
  fake_now = begin + 905 * us;
  EXPECT_NEAR(static_cast<double>(spun(policy)), 245e3, 10e3) << "margin, margin and spin behind the timer";
  EXPECT_EQ(policy.next(true), step::sleep);
  EXPECT_EQ(policy.plan().ns, limits.timeout_ns);
  EXPECT_FALSE(policy.plan().by_timer);
}

TEST_F(wait_policies, adaptive_woken_early_sleeps_again) {
  adaptive_policy policy{alone_case, model::slack_prediction{.slack_ns = 1000 * us, .margin_ns = 100 * us}};
  EXPECT_EQ(policy.next(false), step::sleep);
  fake_now += 300 * us;
  EXPECT_EQ(policy.next(true), step::sleep);
  EXPECT_EQ(policy.plan().ns, 600 * us);
}

// For one kind of wait, three take 40 us and three 1 ms.
TEST_F(wait_policies, adaptive_may_spin_through_a_short_wait_and_predict_an_overdue_one_anew) {
  const model::waiting_costs costs{.reconsider = true};
  for (int i = 0; i < 3; ++i) {
    history.waited(flag, 40 * us);
    history.waited(flag, 1000 * us);
  }
  adaptive_policy policy{alone_case, history.predict(flag), costs};
  const std::int64_t begin = fake_now;
  const std::int64_t spinning = spun(policy);
  EXPECT_GE(spinning, (40 + 50) * us) << "across the short ones' end";
  EXPECT_LE(spinning, (40 + 50 + 40) * us);
  ASSERT_EQ(policy.next(false), step::sleep);
  EXPECT_TRUE(policy.plan().by_timer) << "until shortly before the long ones' end";
  EXPECT_NEAR(static_cast<double>(fake_now + policy.plan().ns - begin), 800e3, 100e3);
  fake_now += policy.plan().ns;
  EXPECT_EQ(policy.next(false), step::spin);
  fake_now = begin + 2000 * us;
  spun(policy);
  EXPECT_FALSE(policy.plan().by_timer) << "none was that long";
}

TEST_F(wait_policies, no_sleep_of_adaptive_is_longer_than_the_time_out) {
  adaptive_policy policy{alone_case, model::slack_prediction{.slack_ns = 3'000'000 * us, .margin_ns = 100 * us}};
  EXPECT_EQ(policy.next(false), step::sleep);
  EXPECT_EQ(policy.plan().ns, limits.timeout_ns);
  EXPECT_FALSE(policy.plan().by_timer);
}

TEST_F(wait_policies, a_short_slack_is_not_worth_a_timer) {
  const auto first_step = [](const wait_case& c, std::optional<model::slack_prediction> known) {
    adaptive_policy policy{c, known};
    return policy.next(false);
  };
  const auto slack = [](std::int64_t ns) { return model::slack_prediction{.slack_ns = ns, .margin_ns = 40 * us}; };
  EXPECT_EQ(first_step(alone_case, slack(170 * us)), step::sleep);
  EXPECT_EQ(first_step(alone_case, slack(160 * us)), step::spin) << "as interrupt does";
  EXPECT_EQ(first_step(alone_case, std::nullopt), step::spin);
  EXPECT_EQ(first_step(oversubscribed_case, slack(170 * us)), step::yield);
}

TEST_F(wait_policies, adaptive_learns_from_waits_that_are_not_small_transfers) {
  const awaited small{operation::put, 8};
  for (const awaited& what : {flag, small})
    for (int i = 0; i < 8; ++i) adaptive_policy{wait_case{limits, what, history}}.ended(1000 * us);
  EXPECT_TRUE(history.predict(flag).has_value());
  EXPECT_FALSE(history.predict(small).has_value());
}

TEST_F(wait_policies, the_frequency_is_lowered_for_large_transfers_and_for_what_has_no_size) {
  const awaited small{operation::put, 16383}, large{operation::put, 16384}, flag{operation::wait_until};
  for (const auto policy : {wait_policy::poll_dvfs, wait_policy::interrupt_dvfs}) {
    EXPECT_EQ(when_to_lower(policy, small, limits), lowering::never);
    EXPECT_EQ(when_to_lower(policy, large, limits), lowering::at_once);
    EXPECT_EQ(when_to_lower(policy, flag, limits), lowering::after_spin);
  }
  EXPECT_EQ(when_to_lower(wait_policy::interrupt, large, limits), lowering::never);
  EXPECT_EQ(when_to_lower(wait_policy::adaptive, large, limits), lowering::never);
}

TEST(wait_policy_names, are_those_of_the_setting) {
  EXPECT_EQ(wait_policy_named("interrupt+dvfs"), wait_policy::interrupt_dvfs);
  EXPECT_EQ(wait_policy_named("dream"), std::nullopt);
}

}  // namespace
}  // namespace lull::wait
