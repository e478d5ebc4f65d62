#include "meter/parts/power_integral.hpp"

#include <gtest/gtest.h>

#include <random>

#include "meter/parts/device_clock.hpp"
#include "meter/tally.hpp"

namespace lull::meter {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t longest = 3 * second;

const channel node{.name = "x:node",
                   .covers = domain::node,
                   .kind = kind::measured,
                   .interval = seconds{1},
                   .basis = {},
                   .limits = {.may_rest = true},
                   .joules_per_unit = {1e-6, 1e-6, 1e-6},
                   .watts = {},
                   .integrated = true};

TEST(power_integral, two_readings_make_a_trapezoid_off_by_half_their_difference) {
  power_integral power(longest);
  power.push(100, 0);
  EXPECT_EQ(*power.at(0).value, 0U);
  power.push(300, second);
  const reading now = power.at(second);
  EXPECT_EQ(*now.value, 200'000'000U);
  EXPECT_DOUBLE_EQ(now.doubt, 100e6);
  EXPECT_DOUBLE_EQ(now.pending, 0);
}

TEST(power_integral, until_the_next_reading_the_last_power_goes_on_in_doubt) {
  power_integral power(longest, 500);
  power.push(100, 0);
  const reading later = power.at(second);
  EXPECT_EQ(*later.value, 100'000'000U);
  EXPECT_DOUBLE_EQ(later.pending, 400e6);  // it may have been 500 W, or none
}

TEST(power_integral, what_went_on_too_high_is_made_up_for_and_never_falls) {
  power_integral power(longest);
  power.push(400, 0);
  EXPECT_EQ(*power.at(second).value, 400'000'000U);
  power.push(0, second);
  const reading now = power.at(second);
  EXPECT_EQ(*now.value, 400'000'000U);
  EXPECT_GE(now.doubt + now.pending, 400e6);
}

TEST(power_integral, a_gap_is_bridged_counted_and_doubted_by_what_the_power_could_have_been) {
  power_integral power(longest, 300);
  tally total(node);
  const auto at = [&](std::optional<double> watts, std::int64_t time_ns) {
    power.push(watts, time_ns);
    total.add(power.at(time_ns));
  };
  at(100, 0);
  at(std::nullopt, second);
  at(100, 2 * second);
  EXPECT_DOUBLE_EQ(total.total().joules, 200);
  EXPECT_EQ(total.total().gaps, 1);
  EXPECT_DOUBLE_EQ(total.total().low_j, 0);
  EXPECT_DOUBLE_EQ(total.total().high_j, 600);
  EXPECT_FALSE(total.total().lower_bound);
}

TEST(power_integral, a_gap_nobody_saw_is_counted_all_the_same) {
  power_integral power(longest);
  tally total(node);
  power.push(100, 0);
  total.add(power.at(0));
  power.push(std::nullopt, second);
  power.push(100, 2 * second);
  total.add(power.at(2 * second));
  EXPECT_EQ(total.total().gaps, 1);
}

TEST(power_integral, a_meter_that_fell_silent_gives_no_value) {
  power_integral power(longest);
  EXPECT_FALSE(power.at(0).value);
  power.push(100, 0);
  EXPECT_TRUE(power.at(longest).value);
  EXPECT_FALSE(power.at(longest + 1).value);
}

// A power that is linear between readings, or anywhere in a gap, with random failures and a reader with its own times.
TEST(power_integral, the_truth_is_always_within_the_stated_band) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto between = [&](double a, double b) { return std::uniform_real_distribution<>(a, b)(random); };
    const double most = 500, faults = between(0, 0.3);
    power_integral power(longest, most);
    tally total(node);
    double truth = 0, watts = between(0, most);
    std::int64_t now = 0;
    power.push(watts, now);
    total.add(power.at(now));
    double before = 0;
    for (int i = 0; i < 80; ++i) {
      const auto passed = static_cast<std::int64_t>(between(0.2, 1.5) * 1e9);
      const double next = between(0, most);
      truth += (watts + next) / 2 * static_cast<double>(passed) * 1e-9;
      now += passed;
      watts = next;
      power.push(between(0, 1) < faults ? std::nullopt : std::optional(watts), now);
      if (between(0, 1) < 0.7) total.add(power.at(now));
      const channel_total t = total.total();
      ASSERT_GE(t.joules, before);
      before = t.joules;
    }
    power.push(watts, now);
    total.add(power.at(now));
    const channel_total t = total.total();
    ASSERT_LE(t.low_j, truth + 1e-3);
    ASSERT_GE(t.high_j, truth - 1e-3);
  }
}

TEST(device_clock, keeps_the_distance_between_stamps) {
  device_clock clock;
  EXPECT_EQ(clock.at(500, 1000 * second), 1000 * second);
  EXPECT_EQ(clock.at(500 + second / 2, 1001 * second), 1000 * second + second / 2);
}

TEST(device_clock, survives_a_step_either_way_and_never_runs_backwards_or_ahead) {
  for (const std::int64_t step : {3600 * second, -3600 * second}) {
    device_clock clock;
    std::int64_t before = 0;
    for (int i = 0; i < 10; ++i) {
      const std::int64_t now = (1000 + i) * second;
      const std::int64_t at = clock.at(5000 * second + i * second + (i > 4 ? step : 0), now);
      EXPECT_GE(at, before);
      EXPECT_LE(at, now);
      EXPECT_GE(at, now - second);
      before = at;
    }
  }
}

}  // namespace
}  // namespace lull::meter
