#include "wait/history.hpp"

#include <gtest/gtest.h>

namespace lull::wait {
namespace {

constexpr std::int64_t us = 1000;

awaited put_of(std::size_t bytes, int peer = 1) { return {operation::put, bytes, peer}; }

TEST(wait_history, knows_nothing_of_what_it_has_not_seen_three_times) {
  wait_history history;
  history.waited(put_of(65536), 500 * us);
  history.waited(put_of(65536), 500 * us);
  EXPECT_FALSE(history.predict(put_of(65536)));
  history.waited(put_of(65536), 500 * us);
  EXPECT_EQ(history.predict(put_of(65536))->slack_ns, 500 * us);
}

TEST(wait_history, keeps_operations_peers_and_sizes_apart) {
  wait_history history;
  for (int i = 0; i < 3; ++i) {
    history.waited(put_of(65536), 500 * us);
    history.waited(put_of(65536, 2), 900 * us);
    history.waited(put_of(131072), 1000 * us);
    history.waited({operation::get, 65536, 1}, 700 * us);
  }
  EXPECT_EQ(history.predict(put_of(65536))->slack_ns, 500 * us);
  EXPECT_EQ(history.predict(put_of(66000))->slack_ns, 500 * us) << "nearly the same size";
  EXPECT_FALSE(history.predict(put_of(98304)));
  EXPECT_EQ(history.predict(put_of(65536, 2))->slack_ns, 900 * us);
  EXPECT_EQ(history.predict({operation::get, 65536, 1})->slack_ns, 700 * us);
}

TEST(wait_history, keeps_places_in_the_program_apart) {
  wait_history history(64);
  const auto at = [](std::uint64_t site) { return awaited{.what = operation::collective, .site = site}; };
  for (int i = 0; i < 3; ++i) {
    history.waited(at(1), 500 * us);
    history.waited(at(2), 900 * us);
  }
  EXPECT_EQ(history.predict(at(1))->slack_ns, 500 * us);
  EXPECT_EQ(history.predict(at(2))->slack_ns, 900 * us);
  EXPECT_FALSE(history.predict(at(3)));
}

TEST(wait_history, margins_are_as_its_costs_say) {
  wait_history history(64, {.cold_start_ns = 20 * us, .least_slack_per_margin = 4, .timers_in_time_pct = 50});
  for (int i = 0; i < 8; ++i) history.waited(put_of(65536), 10'000 * us);
  for (int i = 0; i < 32; ++i) history.timer_was_late(i < 20 ? 20 * us : 40 * us);
  EXPECT_EQ(history.predict(put_of(65536))->margin_ns, 40 * us) << "20 late by the median, 20 of cold start";
  for (int i = 0; i < 8; ++i) history.waited(put_of(65536), 100 * us);
  EXPECT_EQ(history.predict(put_of(65536))->margin_ns, 25 * us);
}

TEST(wait_history, predicts_the_lower_quartile_of_the_last_eight) {
  wait_history history;
  for (int i = 0; i < 100; ++i) history.waited(put_of(65536), 10 * us);
  for (int i = 1; i <= 8; ++i) history.waited(put_of(65536), i * 1000 * us);
  EXPECT_EQ(history.predict(put_of(65536))->slack_ns, 3000 * us);
}

TEST(wait_history, the_margin_grows_with_wake_up_latency_and_spread_up_to_a_fifth) {
  wait_history history;
  for (int i = 0; i < 8; ++i) history.waited(put_of(65536), 10'000 * us);
  for (int i = 0; i < 32; ++i) history.timer_was_late(i < 28 ? 20 * us : 40 * us);
  EXPECT_EQ(history.predict(put_of(65536))->margin_ns, 100 * us) << "40 late, no spread, 60 of cold start";
  for (int i = 0; i < 4; ++i) history.waited(put_of(65536), 10'500 * us);
  EXPECT_EQ(history.predict(put_of(65536))->margin_ns, 600 * us);
  for (int i = 0; i < 8; ++i) history.waited(put_of(65536), 200 * us);
  EXPECT_EQ(history.predict(put_of(65536))->margin_ns, 40 * us);
}

TEST(wait_history, is_bounded_and_forgets_what_it_has_not_seen_for_longest) {
  wait_history history;
  for (int i = 0; i < 3; ++i) history.waited(put_of(65536, 0), 500 * us);
  for (int peer = 1; peer < 5000; ++peer)
    for (int i = 0; i < 3; ++i) history.waited(put_of(65536, peer), peer * us);
  EXPECT_FALSE(history.predict(put_of(65536, 0)));
  EXPECT_EQ(history.predict(put_of(65536, 4999))->slack_ns, 4999 * us);
}

TEST(wait_history, that_keeps_nothing_predicts_nothing) {
  wait_history history;
  history.keep_nothing();
  for (int i = 0; i < 100; ++i) history.waited(put_of(65536), 10'000 * us);
  EXPECT_FALSE(history.predict(put_of(65536)));
}

TEST(wait_history, tells_what_decisions_were_predicted_to_cost_and_did) {
  wait_history history;
  for (int i = 0; i < 32; ++i) history.timer_was_late(20 * us);
  const model::slack_prediction known{.slack_ns = 1000 * us, .margin_ns = 90 * us};
  wait_counts went;
  went.sleeps = 1;
  went.ns_waited = 1000 * us;
  went.ns_asleep = 900 * us;
  history.decided({known, true}, 50 * us, went);
  const auto all = history.accounts();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].where, "worth a timer");
  const auto& timer = all[0].alternatives[0];
  const auto& spin = all[0].alternatives[1];
  EXPECT_EQ(timer.operations, 1U);
  EXPECT_EQ(timer.predicted_ns, 120e3) << "60 µs late, 60 of cold start";
  EXPECT_EQ(timer.corrected_ns, 90e3);
  EXPECT_EQ(timer.observed_ns, 100e3);
  EXPECT_EQ(spin.predicted_ns, 170e3) << "50 of spin, 60 late, 60 of cold start";
  EXPECT_EQ(spin.corrected_ns, 130e3) << "20 late";
  EXPECT_EQ(spin.observed_ns, std::nullopt);
}

}  // namespace
}  // namespace lull::wait
