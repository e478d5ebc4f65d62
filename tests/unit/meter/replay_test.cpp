// Days with faults, replayed into the sources' files, and the totals that are then allowed.
#include "replay.hpp"

#include <gmock/gmock.h>

#include <random>

namespace lull::meter {
namespace {

constexpr std::uint64_t range_uj = 262'143'328'850;
const std::string energy = "/sys/class/powercap/intel-rapl:1/energy_uj";
const std::string package = "powercap:package-0";

std::string uj(double joules) { return std::to_string(static_cast<std::uint64_t>(joules * 1e6)); }
std::string before_end(double joules) { return std::to_string(range_uj - static_cast<std::uint64_t>(joules * 1e6)); }

class replay_test : public meter_test {
 protected:
  // One value of package-0 per second; the first is there from the beginning.
  channel_total seconds_of(const std::vector<change>& values) const {
    replay day(tree_, "powercap", {{energy, values.front()}});
    for (std::size_t i = 1; i < values.size(); ++i) day.after(1, {{energy, values[i]}});
    return day.total(package);
  }

  const fixture_tree tree_{"intel_2s_server"};
};

TEST_F(replay_test, a_wrap_is_300_joules_and_one_wrap) {
  const channel_total total = seconds_of({before_end(150), before_end(50), uj(50), uj(150)});
  EXPECT_NEAR(total.joules, 300, 1e-6);
  EXPECT_EQ(total.wraps, 1);
  EXPECT_FALSE(total.lower_bound);
}

TEST_F(replay_test, a_failed_reading_is_300_joules_and_one_gap) {
  for (const int error : {EIO, EACCES}) {
    const channel_total total = seconds_of({uj(1000), uj(1100), fails_with{error}, uj(1300)});
    EXPECT_NEAR(total.joules, 300, 1e-6);
    EXPECT_EQ(total.gaps, 1);
    EXPECT_FALSE(total.lower_bound);
  }
}

TEST_F(replay_test, a_stale_value_is_200_joules_and_one_stale) {
  const channel_total total = seconds_of({uj(1000), uj(1100), uj(1100), uj(1200)});
  EXPECT_NEAR(total.joules, 200, 1e-6);
  EXPECT_EQ(total.stale, 1);
}

TEST_F(replay_test, a_reset_is_200_joules_as_a_lower_bound) {
  const channel_total total = seconds_of({uj(1000), uj(1100), uj(0), uj(100)});
  EXPECT_NEAR(total.joules, 200, 1e-6);
  EXPECT_EQ(total.resets, 1);
  EXPECT_TRUE(total.lower_bound);
}

TEST_F(replay_test, two_wraps_between_two_readings_make_a_lower_bound_that_says_how_much_may_be_missing) {
  replay day(tree_, "powercap", {{energy, uj(1000)}});
  day.after(1500, {{energy, uj(900)}});  // at 1 kW it wraps five times
  const channel_total total = day.total(package);
  EXPECT_TRUE(total.lower_bound);
  EXPECT_GE(total.high_j, 2 * range_uj * 1e-6 - 100);
}

TEST_F(replay_test, a_suspended_machine_whose_counter_ran_on_is_a_lower_bound_and_nothing_is_invented) {
  replay day(tree_, "powercap", {{energy, uj(1000)}});
  day.after(1, {{energy, uj(1100)}});
  day.after(1, {{energy, uj(40'000)}});  // an hour of sleep in which CLOCK_MONOTONIC stood still
  day.after(1, {{energy, uj(40'100)}});
  const channel_total total = day.total(package);
  EXPECT_NEAR(total.joules, 200, 1e-6);
  EXPECT_EQ(total.resets, 1);
  EXPECT_TRUE(total.lower_bound);
}

TEST_F(replay_test, a_driver_taken_out_and_put_in_again_is_gaps_and_a_reset) {
  const channel_total total = seconds_of({uj(1000), uj(1100), fails_with{ENODEV}, fails_with{ENOENT}, uj(50), uj(150)});
  EXPECT_NEAR(total.joules, 200, 1e-6);
  EXPECT_EQ(total.gaps, 2);
  EXPECT_EQ(total.resets, 1);
  EXPECT_TRUE(total.lower_bound);
}

TEST_F(replay_test, a_step_of_the_realtime_clock_does_not_change_what_a_stamped_counter_counted) {
  const fixture_tree cray("cray_ex");
  const std::string node = "/sys/cray/pm_counters/energy";
  const auto stamped = [](int joules, std::int64_t us) {
    return std::to_string(joules) + " J " + std::to_string(us) + " us";
  };
  constexpr std::int64_t noon = 1'784'929'200'000'000;
  for (const std::int64_t stepped : {std::int64_t{3'600'000'000}, std::int64_t{-3'600'000'000}}) {
    replay day(cray, "pm_counters", {{node, stamped(1000, noon)}});
    day.after(1, {{node, stamped(1600, noon + 1'000'000)}});
    day.after(1, {{node, stamped(2200, noon + 2'000'000 + stepped)}});
    day.after(1, {{node, stamped(2800, noon + 3'000'000 + stepped)}});
    const channel_total total = day.total("pm_counters:node");
    EXPECT_NEAR(total.joules, 1800, 1e-9) << stepped;
    EXPECT_EQ(total.resets, 0);
    EXPECT_FALSE(total.lower_bound);
  }
}

// A machine with its own load and every fault, at random; the test keeps the truth.
TEST_F(replay_test, the_total_is_never_above_the_truth_plus_what_it_says_it_does_not_know) {
  for (unsigned seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto chance = [&](double p) { return std::uniform_real_distribution<>(0, 1)(random) < p; };
    const auto between = [&](double a, double b) { return std::uniform_real_distribution<>(a, b)(random); };
    const std::uint64_t range = static_cast<std::uint64_t>(between(5e9, 3e11));
    const channel c{.name = "x:package",
                    .covers = domain::package,
                    .kind = kind::vendor_model,
                    .interval = seconds{1e-3},
                    .basis = {},
                    .limits = {.range = range, .max_per_second = 1000e6, .slack_ns = 100'000'000},
                    .joules_per_unit = {1e-6, 1e-6, 1e-6},
                    .watts = {}};
    tally counted(c);
    double value = between(0, static_cast<double>(range)), truth = 0, before = 0;
    std::uint64_t shown = static_cast<std::uint64_t>(value);
    std::int64_t now = 0;
    counted.add({.value = shown, .time_ns = now});
    const double faults = chance(0.2) ? 0 : between(0, 0.2);
    for (int i = 0; i < 60; ++i) {
      const double pause = chance(faults / 4) ? between(1, 900) : between(0.01, 1.2);
      const double asleep = chance(faults / 4) ? between(1, 4000) : 0;  // the counter may run on, this clock does not
      const double joules = between(0, 1000) * pause + between(0, 20) * asleep;
      now += static_cast<std::int64_t>(pause * 1e9);
      truth += joules;
      value = std::fmod(value + joules * 1e6, static_cast<double>(range));
      if (chance(faults / 4)) value = chance(0.5) ? 0 : between(0, 1e6);  // reset; the driver may have been reloaded
      const bool unplugged = chance(faults), stands = chance(faults);
      if (!unplugged && !stands) shown = static_cast<std::uint64_t>(value);
      counted.add(unplugged ? reading{.value = {}, .error = ENODEV, .time_ns = now}
                            : reading{.value = shown, .time_ns = now});
      const channel_total total = counted.total();
      ASSERT_GE(total.joules, before);
      ASSERT_GE(total.low_j, 0);
      ASSERT_LE(total.low_j, total.joules);
      ASSERT_LE(total.joules, total.high_j);
      ASSERT_LE(total.low_j, truth + 1e-3);
      before = total.joules;
    }
  }
}

}  // namespace
}  // namespace lull::meter
