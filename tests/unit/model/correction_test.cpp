// Observations replace predictions, outliers do not, and a choice does not oscillate. In virtual time.
#include "model/machine/correction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

namespace lull::model {
namespace {

// A disturbed machine: one observation in several is late by a time slice of another program.
class machine_in_virtual_time {
 public:
  explicit machine_in_virtual_time(unsigned seed, int one_of = 20) : random_(seed), one_of_(one_of) {}
  double takes(double ns) {
    const double noise = std::uniform_real_distribution(0.95, 1.15)(random_);
    const bool late = std::uniform_int_distribution(1, one_of_)(random_) == 1;
    return ns * noise + (late ? 4e6 : 0);
  }

 private:
  std::mt19937 random_;
  int one_of_;
};

double off_by(const corrected_term& term, double truth) { return std::abs(term.value() / truth - 1); }

TEST(model_correction, nothing_seen_is_the_prediction) {
  const corrected_term term(3000);
  EXPECT_EQ(term.value(), 3000);
  EXPECT_EQ(term.spread(), 0);
  EXPECT_EQ(term.mean_seen(), std::nullopt);
}

TEST(model_correction, three_observations_correct_a_term_that_is_wrong_by_any_factor) {
  corrected_term latency(30'000), ns_per_byte(0.05);  // ten times too much, and a quarter
  for (const double seen : {3100.0, 2900.0, 3000.0}) latency.saw(seen);
  for (const double seen : {0.2, 0.21, 5.0}) ns_per_byte.saw(seen);  // one outlier among them
  EXPECT_EQ(latency.value(), 3000);
  EXPECT_EQ(ns_per_byte.value(), 0.21);
  EXPECT_EQ(latency.predicted(), 30'000);
}

TEST(model_correction, of_two_observations_the_lesser_counts) {
  corrected_term term(30'000);
  term.saw(4e6);
  term.saw(3000);
  EXPECT_EQ(term.value(), 3000);
}

// The beginning is hardest: two of the first three may be late.
TEST(model_correction, on_a_disturbed_machine_terms_are_right_within_twenty_observations) {
  int right = 0, right_soon = 0;
  constexpr int machines = 1000;
  for (unsigned seed = 0; seed < machines; ++seed) {
    machine_in_virtual_time machine(seed);
    corrected_term latency(30'000);
    for (int i = 0; i < 20; ++i) {
      latency.saw(machine.takes(3000));
      if (i == 2) right_soon += off_by(latency, 3000) < 0.25 ? 1 : 0;
    }
    right += off_by(latency, 3000) < 0.25 ? 1 : 0;
  }
  EXPECT_GE(right_soon, 0.97 * machines);
  EXPECT_GE(right, 0.97 * machines);
}

TEST(model_correction, an_outlier_moves_a_term_by_a_tenth) {
  corrected_term term(3000);
  for (int i = 0; i < 20; ++i) term.saw(3000);
  term.saw(4e6);
  EXPECT_LE(off_by(term, 3000), 0.11);
  for (int i = 0; i < 8; ++i) term.saw(3000);
  EXPECT_LE(off_by(term, 3000), 0.02);
}

TEST(model_correction, a_machine_that_changes_tenfold_is_followed_within_fifteen_observations) {
  corrected_term up(1), down(1);
  for (int i = 0; i < 20; ++i) up.saw(1), down.saw(1);
  for (int i = 0; i < 15; ++i) up.saw(10), down.saw(0.1);
  EXPECT_LE(off_by(up, 10), 0.1);
  EXPECT_LE(off_by(down, 0.1), 0.35);
}

TEST(model_correction, what_cost_nothing_may_come_to_cost_something) {
  corrected_term term(0);
  for (int i = 0; i < 10; ++i) term.saw(0);
  for (int i = 0; i < 20; ++i) term.saw(8000);
  EXPECT_LE(off_by(term, 8000), 0.1);
}

TEST(model_correction, the_spread_is_that_of_what_is_seen) {
  corrected_term term(100);
  for (int i = 0; i < 100; ++i) term.saw(i % 2 == 0 ? 50 : 150);
  EXPECT_NEAR(term.spread(), 50, 15);
  EXPECT_NEAR(term.value(), 100, 20);
  EXPECT_NEAR(term.mean_seen().value(), 100, 5);
}

TEST(model_correction, what_is_forgotten_is_begun_anew) {
  corrected_term term(100);
  for (int i = 0; i < 10; ++i) term.saw(100);
  term.forget();
  EXPECT_EQ(term.value(), 100);
  term.saw(7);
  EXPECT_EQ(term.value(), 7);
  term.forget();
  term.saw(300);
  EXPECT_EQ(term.value(), 300) << "it may have become dearer as well";
}

TEST(model_correction, the_mean_of_what_was_seen_leaves_out_what_was_late_at_the_very_begin) {
  corrected_term term(30'000);
  term.saw(3000);
  EXPECT_EQ(term.mean_seen(), 3000);
  term.saw(4e6);
  term.saw(3100);
  EXPECT_EQ(term.mean_seen(), 3100);
  term.saw(3500);
  EXPECT_EQ(term.mean_seen(), (3 * 3100 + 3500) / 4.0);
}

TEST(model_correction, off_keeps_what_was_predicted) {
  const correction_rules off{.off = true};
  corrected_term term(30'000, off);
  for (int i = 0; i < 100; ++i) term.saw(3000);
  EXPECT_EQ(term.value(), 30'000);
  EXPECT_EQ(term.mean_seen(), std::nullopt);
  steady_choice choice(0, off);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(choice.look(std::array{10.0, 1.0}), 0U);
}

TEST(model_correction, another_alternative_is_taken_when_it_has_been_better_for_a_while) {
  steady_choice choice;
  const std::uint32_t looks = correction_rules{}.looks_to_switch;
  for (std::uint32_t i = 1; i < looks; ++i) EXPECT_EQ(choice.look(std::array{10.0, 5.0}), 0U);
  EXPECT_EQ(choice.look(std::array{10.0, 5.0}), 1U);
  EXPECT_EQ(choice.switches(), 1U);
}

TEST(model_correction, a_look_at_which_it_is_not_begins_the_while_anew) {
  steady_choice choice;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(choice.look(std::array{10.0, i % 3 == 0 ? 9.0 : 5.0}), 0U);
  EXPECT_EQ(choice.switches(), 0U);
}

TEST(model_correction, between_equals_on_a_disturbed_machine_nothing_flaps) {
  std::uint32_t most = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    machine_in_virtual_time machine(seed);
    corrected_term one(3000), other(3000);
    steady_choice choice;
    for (int i = 0; i < 10'000; ++i) {
      (choice.taken() == 0 ? one : other).saw(machine.takes(3000));
      choice.look(std::array{one.value(), other.value()});
    }
    most = std::max(most, choice.switches());
  }
  EXPECT_LE(most, 20U);  // of 10,000 looks
}

// Ten times the latency and a quarter of the bandwidth: the size from which a copy costs as much as a message's latency
// is 40 times too large, until a few of each have been observed.
TEST(model_correction, a_threshold_of_wrong_terms_becomes_the_right_one) {
  machine_in_virtual_time machine(1);
  corrected_term latency(30'000), ns_per_byte(0.05);
  const auto threshold = [&] { return latency.value() / ns_per_byte.value(); };
  EXPECT_NEAR(threshold(), 600'000, 1);
  for (int i = 0; i < 20; ++i) {
    latency.saw(machine.takes(3000));
    ns_per_byte.saw(machine.takes(0.2 * 4096) / 4096);
  }
  EXPECT_NEAR(threshold(), 15'000, 15'000 * 0.4);
}

}  // namespace
}  // namespace lull::model
