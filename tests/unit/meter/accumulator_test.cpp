#include "meter/accumulator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace lull::meter {
namespace {

constexpr std::uint64_t range_uj = 262'143'328'850;
constexpr double most_watts = 400;
constexpr std::int64_t second = 1'000'000'000;
constexpr counter_limits package{.range = range_uj, .max_per_second = most_watts * 1e6};

constexpr std::uint64_t uj(std::uint64_t joules) { return joules * 1'000'000; }

// Pushes one value per second.
accumulator replay(const std::vector<std::optional<std::uint64_t>>& values, counter_limits limits = package) {
  accumulator counter(limits);
  std::int64_t time = 0;
  for (const auto& value : values) counter.push(value, time += second);
  return counter;
}

TEST(accumulator, a_wrap_is_counted_as_the_way_round) {
  const accumulator counter = replay({range_uj - uj(150), range_uj - uj(50), uj(50), uj(150)});
  EXPECT_EQ(counter.total(), uj(300));
  EXPECT_EQ(counter.wraps(), 1);
  EXPECT_EQ(counter.resets(), 0);
  EXPECT_FALSE(counter.lower_bound());
}

TEST(accumulator, a_failed_read_is_a_gap_that_the_next_reading_closes) {
  const accumulator counter = replay({uj(1000), uj(1100), std::nullopt, uj(1300)});
  EXPECT_EQ(counter.total(), uj(300));
  EXPECT_EQ(counter.gaps(), 1);
  EXPECT_FALSE(counter.lower_bound());
}

TEST(accumulator, a_stale_value_counts_nothing_and_loses_nothing) {
  const accumulator counter = replay({uj(1000), uj(1100), uj(1100), uj(1200)});
  EXPECT_EQ(counter.total(), uj(200));
  EXPECT_EQ(counter.stales(), 1);
  EXPECT_FALSE(counter.lower_bound());
}

TEST(accumulator, a_reset_makes_the_total_a_lower_bound) {
  const accumulator counter = replay({uj(1000), uj(1100), uj(0), uj(100)});
  EXPECT_EQ(counter.total(), uj(200));
  EXPECT_EQ(counter.resets(), 1);
  EXPECT_EQ(counter.wraps(), 0);
  EXPECT_TRUE(counter.lower_bound());
  EXPECT_DOUBLE_EQ(counter.missing_at_most(), 400e6);
}

TEST(accumulator, catching_up_after_a_stale_value_is_no_jump) {
  const accumulator counter = replay({uj(1000), uj(1000), uj(1700)});
  EXPECT_EQ(counter.total(), uj(700));
  EXPECT_EQ(counter.resets(), 0);
}

TEST(accumulator, a_jump_no_hardware_could_make_is_a_reset) {
  const accumulator counter = replay({uj(5000), uj(0), uj(5100), uj(5200)});
  EXPECT_EQ(counter.total(), uj(100));
  EXPECT_EQ(counter.resets(), 2);
  EXPECT_TRUE(counter.lower_bound());
}

TEST(accumulator, without_a_range_there_is_no_wrap) {
  const accumulator counter = replay({uj(1000), uj(10)}, {.range = 0, .max_per_second = 400e6});
  EXPECT_EQ(counter.total(), 0U);
  EXPECT_EQ(counter.resets(), 1);
}

TEST(accumulator, without_a_known_rate_no_wrap_can_be_believed) {
  const accumulator counter = replay({range_uj - 1, 1}, {.range = range_uj});
  EXPECT_EQ(counter.wraps(), 0);
  EXPECT_EQ(counter.resets(), 1);
}

TEST(accumulator, a_range_smaller_than_the_value_is_not_trusted) {
  const accumulator counter = replay({200, 10}, {.range = 100, .max_per_second = 1e9});
  EXPECT_EQ(counter.total(), 0U);
  EXPECT_EQ(counter.resets(), 1);
}

TEST(accumulator, a_pause_in_which_the_counter_may_have_gone_round_unseen_gives_a_lower_bound) {
  for (const std::uint64_t later : {uj(1100), uj(900), uj(1000)}) {
    accumulator counter(package);
    counter.push(uj(1000), 0);
    counter.push(later, 1400 * second);  // at 400 W it wraps twice in 1310 s
    EXPECT_TRUE(counter.lower_bound()) << later;
    EXPECT_GE(static_cast<double>(counter.total()) + counter.missing_at_most(), later == uj(1000) ? 0 : 400e6 * 1400);
  }
}

TEST(accumulator, a_reading_missing_at_either_end_gives_a_lower_bound) {
  EXPECT_TRUE(replay({std::nullopt, uj(1000), uj(1100)}).lower_bound());
  const accumulator at_end = replay({uj(1000), uj(1100), std::nullopt});
  EXPECT_TRUE(at_end.lower_bound());
  EXPECT_DOUBLE_EQ(at_end.missing_at_most(), 400e6);
  EXPECT_TRUE(replay({}).lower_bound());
  EXPECT_FALSE(replay({uj(1000), uj(1100)}).lower_bound());
}

TEST(accumulator, readings_missing_at_the_beginning_may_hide_all_since_the_first_of_them) {
  EXPECT_DOUBLE_EQ(replay({std::nullopt, std::nullopt, uj(1000)}).missing_at_most(), 2 * 400e6);
  const accumulator again = replay({std::nullopt, uj(1000), std::nullopt, uj(1100)});
  EXPECT_DOUBLE_EQ(again.missing_at_most(), 400e6) << "what the second hides is in the reading after it";
}

TEST(accumulator, a_counter_of_one_unit_a_second_wraps_and_grows_at_that_rate) {
  constexpr counter_limits slow{.range = 10, .max_per_second = 1};
  EXPECT_EQ(replay({9, 0, 1}, slow).total(), 2U);
  EXPECT_EQ(replay({9, 0, 1}, slow).wraps(), 1);
  EXPECT_EQ(replay({9, 0, 1}, slow).resets(), 0);
  EXPECT_EQ(replay({9, 1}, slow).resets(), 1) << "two units in a second are more than it can count";
}

TEST(accumulator, a_counter_that_may_rest_is_never_stale) {
  const accumulator counter = replay({7, 7, 7, 9}, {.may_rest = true});
  EXPECT_EQ(counter.stales(), 0);
  EXPECT_EQ(counter.total(), 2U);
}

TEST(accumulator, says_which_case_happened) {
  accumulator counter(package);
  EXPECT_TRUE(std::holds_alternative<gap>(counter.push(std::nullopt, 0)));
  EXPECT_TRUE(std::holds_alternative<first>(counter.push(range_uj - uj(10), second)));
  EXPECT_TRUE(std::holds_alternative<stale>(counter.push(range_uj - uj(10), 2 * second)));
  EXPECT_EQ(std::get<wrapped>(counter.push(uj(20), 3 * second)).amount, uj(30));
  EXPECT_EQ(std::get<difference>(counter.push(uj(50), 4 * second)).amount, uj(30));
  EXPECT_TRUE(std::holds_alternative<reset>(counter.push(uj(1), 5 * second)));
}

// Random loads on a small counter that wraps often, with failed reads, stale values, resets and pauses. In all cases
// the total never falls and never exceeds the truth by more than what the resets may hide (a reset can look like a
// possible wrap); without resets the truth is the total, or at most total + missing_at_most of a lower bound.
TEST(accumulator, never_counts_more_than_the_truth_nor_hides_what_is_missing) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto chance = [&](double p) { return std::uniform_real_distribution<>(0, 1)(random) < p; };
    const auto up_to = [&](std::uint64_t n) { return std::uniform_int_distribution<std::uint64_t>(0, n)(random); };
    const counter_limits limits{.range = 100'000 + up_to(1'000'000), .max_per_second = 10'000};
    accumulator counter(limits);
    std::uint64_t value = up_to(limits.range - 1), truth = 0, previous = 0;
    double hidden_by_resets = 0;
    std::int64_t time = 0, changed = 0;
    const double fault_rate = chance(0.5) ? 0 : 0.1;
    counter.push(value, time);
    std::uint64_t shown = value;
    for (int i = 0; i < 200; ++i) {
      const std::int64_t pause = chance(0.02) ? 200 * second : second;
      const std::uint64_t most = 10'000 * static_cast<std::uint64_t>(pause / second);
      time += pause;
      const std::uint64_t counted = up_to(most);
      truth += counted;
      value = (value + counted) % limits.range;
      if (chance(fault_rate / 5)) {
        value = 0;
        hidden_by_resets += limits.max_per_second * static_cast<double>(time - changed) * 1e-9;
      }
      const bool failed = chance(fault_rate);
      if (!failed && !chance(fault_rate)) shown = value, changed = time;
      counter.push(failed ? std::nullopt : std::optional(shown), time);
      ASSERT_GE(counter.total(), previous);
      previous = counter.total();
      ASSERT_LE(static_cast<double>(counter.total()), static_cast<double>(truth) + hidden_by_resets + 0.5);
    }
    // Ends the series with a fresh, good value.
    counter.push(value, time += second);
    // A reset may be invisible: the counter can have grown past its old value before it is read again.
    if (hidden_by_resets > 0) continue;
    const double seen = static_cast<double>(counter.total()) + 0.5;
    EXPECT_LE(static_cast<double>(truth), seen + (counter.lower_bound() ? counter.missing_at_most() : 0));
  }
}

}  // namespace
}  // namespace lull::meter
