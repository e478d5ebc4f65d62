// Slack is predicted from few durations, on the early side, and a sleep must be worth its wake-up.
#include "model/costs/waiting.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace lull::model {
namespace {

constexpr std::int64_t us = 1000;

TEST(model_waiting, predicts_nothing_from_fewer_than_three_durations) {
  EXPECT_FALSE(predict_slack(std::vector{500 * us, 500 * us}, 0));
  EXPECT_TRUE(predict_slack(std::vector{500 * us, 500 * us, 500 * us}, 0));
}

TEST(model_waiting, predicts_the_lower_quartile_whatever_the_order) {
  EXPECT_EQ(predict_slack(std::vector{8 * us, 1 * us, 7 * us, 2 * us, 6 * us, 3 * us, 5 * us, 4 * us}, 0)->slack_ns,
            3 * us);
}

TEST(model_waiting, the_margin_is_latency_spread_and_cold_start_up_to_a_fifth_of_the_slack) {
  const waiting_costs costs{.cold_start_ns = 60 * us};
  const std::vector alike{10'000 * us, 10'000 * us, 10'000 * us, 10'000 * us};
  EXPECT_EQ(predict_slack(alike, 40 * us, costs)->margin_ns, 100 * us);
  const std::vector spread{10'000 * us, 10'000 * us, 10'500 * us, 10'500 * us};
  EXPECT_EQ(predict_slack(spread, 40 * us, costs)->margin_ns, 600 * us);
  EXPECT_EQ(predict_slack(std::vector{200 * us, 200 * us, 200 * us}, 40 * us, costs)->margin_ns, 40 * us);
}

TEST(model_waiting, wake_up_latency_is_assumed_until_eight_have_been_seen_and_then_is_the_ninetieth_percentile) {
  const waiting_costs costs{.assumed_wake_up_latency_ns = 77};
  std::vector<std::int64_t> seen(7, 1 * us);
  EXPECT_EQ(wake_up_latency_ns(seen, costs), 77);
  seen.push_back(1 * us);
  EXPECT_EQ(wake_up_latency_ns(seen, costs), 1 * us);
  seen.assign(30, 20 * us);
  seen[5] = 1000 * us;
  EXPECT_EQ(wake_up_latency_ns(seen, costs), 20 * us) << "one of thirty does not count";
  seen[6] = seen[7] = seen[8] = 1000 * us;
  EXPECT_EQ(wake_up_latency_ns(seen, costs), 1000 * us);
}

TEST(model_waiting, a_sleep_pays_from_the_least_slack_beyond_the_spin) {
  const waiting_costs costs{.least_slack_ns = 120 * us};
  EXPECT_FALSE(sleep_pays({.slack_ns = 169 * us, .margin_ns = 0}, 50 * us, costs));
  EXPECT_TRUE(sleep_pays({.slack_ns = 170 * us, .margin_ns = 0}, 50 * us, costs));
}

}  // namespace
}  // namespace lull::model
