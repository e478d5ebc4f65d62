#include "model/choices/wait_price.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using namespace lull::model;

constexpr interval sure(double value) { return {value, value, value}; }
constexpr std::array polling{measured_wait{1e4, sure(100), sure(1e4)}, measured_wait{1e6, sure(100), sure(1e6)}};
constexpr std::array sleeping{measured_wait{1e4, sure(100), sure(1e4)}, measured_wait{1e6, sure(40'000), sure(6e4)}};

TEST(wait_price, is_what_was_measured_at_the_lengths) {
  EXPECT_DOUBLE_EQ(price_of_wait(sleeping, 1e4).cpu_ns.mid, 1e4);
  EXPECT_DOUBLE_EQ(price_of_wait(sleeping, 1e6).late_ns.mid, 40'000);
}

TEST(wait_price, is_interpolated_in_logarithms) {
  EXPECT_NEAR(price_of_wait(polling, 1e5).cpu_ns.mid, 1e5, 1e-6);
  EXPECT_NEAR(price_of_wait(sleeping, 1e5).late_ns.mid, 2000, 1e-9);
}

TEST(wait_price, of_a_longer_wait_grows_for_who_polls_only) {
  EXPECT_DOUBLE_EQ(price_of_wait(polling, 1e8).cpu_ns.mid, 1e8);
  EXPECT_DOUBLE_EQ(price_of_wait(sleeping, 1e8).cpu_ns.mid, 6e4);
  EXPECT_DOUBLE_EQ(price_of_wait(polling, 1e8).late_ns.mid, 100);
}

TEST(wait_price, of_a_shorter_wait_is_no_more_than_it_lasts) {
  EXPECT_DOUBLE_EQ(price_of_wait(sleeping, 500).cpu_ns.mid, 600);
}

TEST(wait_price, of_another_policy_changes_time_and_energy) {
  // Ten waits of a millisecond: 39.9 us later and 0.94 ms of CPU time less each.
  const std::array seen{seen_waits{10, 1e7}};
  const cost change = change_of_policy(
      seen, polling, sleeping, {.processes = 2, .nodes = 1, .idle_watts = sure(50), .watts_of_core = {1, 2, 3}});
  EXPECT_NEAR(change.seconds.mid, 10 * 39.9e-6 / 2, 1e-15);
  EXPECT_EQ(change.seconds.low, 0);  // others may wait as long anyway
  EXPECT_NEAR(change.joules.mid, -10 * 0.94e-3 * 2 + change.seconds.mid * 50, 1e-12);
  EXPECT_NEAR(change.joules.low, -10 * 0.94e-3 * 3, 1e-12);
  EXPECT_NEAR(change.joules.high, -10 * 0.94e-3 * 1 + change.seconds.mid * 50, 1e-12);
}

TEST(wait_price, a_single_wait_of_a_kind_counts) {
  const cost change = change_of_policy(std::array{seen_waits{1, 1e6}}, polling, sleeping, {});
  EXPECT_NEAR(change.seconds.mid, 39.9e-6, 1e-15);
}

TEST(wait_price, of_the_same_policy_changes_nothing) {
  const std::array seen{seen_waits{10, 1e7}, seen_waits{}};
  const cost change = change_of_policy(seen, polling, polling, {.idle_watts = sure(50), .watts_of_core = sure(1)});
  EXPECT_EQ(change.seconds, sure(0));
  EXPECT_EQ(change.joules, sure(0));
}

}  // namespace
