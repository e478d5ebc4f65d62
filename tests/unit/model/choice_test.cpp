#include "model/choices/choice.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using namespace lull::model;

constexpr interval sure(double value) { return {value, value, value}; }
constexpr cost present{sure(10), sure(100)};
constexpr double least_gain = 0.02;

TEST(choice, is_better_only_where_the_whole_interval_is) {
  const aim time{objective::time};
  EXPECT_EQ(judge(present, {{-3, -2, -1}, sure(0)}, time, least_gain), verdict::better);
  EXPECT_EQ(judge(present, {{-3, -2, 1}, sure(0)}, time, least_gain), verdict::unsure);
  EXPECT_EQ(judge(present, {{-0.2, -0.1, -0.05}, sure(0)}, time, least_gain), verdict::no_better);
  EXPECT_EQ(judge(present, {sure(1), sure(-50)}, time, least_gain), verdict::no_better);
}

TEST(choice, weighs_energy_and_time_as_asked) {
  const cost slower_but_saves{sure(1), sure(-20)};  // 1.1 · 0.8 = 0.88
  EXPECT_EQ(judge(present, slower_but_saves, {objective::energy}, least_gain), verdict::better);
  EXPECT_EQ(judge(present, slower_but_saves, {objective::edp}, least_gain), verdict::better);
  EXPECT_NEAR(gain_of(present, slower_but_saves, {objective::edp}).mid, -0.12, 1e-12);
  EXPECT_EQ(judge(present, slower_but_saves, {objective::energy_within, 0.02}, least_gain), verdict::too_slow);
  EXPECT_EQ(judge(present, slower_but_saves, {objective::energy_within, 0.1}, least_gain), verdict::better);
  EXPECT_EQ(judge(present, {{0, 0.1, 5}, sure(-20)}, {objective::energy_within, 0.02}, least_gain), verdict::unsure);
}

TEST(choice, takes_the_best_of_those_that_are_better) {
  const std::array changes{cost{{-9, -5, 1}, sure(0)}, cost{{-3, -2, -1}, sure(0)}, cost{{-4, -3, -1}, sure(0)}};
  EXPECT_EQ(choose(present, changes, {objective::time}, least_gain), 2U);
  EXPECT_EQ(choose(present, std::span(changes).first(1), {objective::time}, least_gain), std::nullopt);
  EXPECT_EQ(choose(present, {}, {objective::time}, least_gain), std::nullopt);
}

TEST(choice, of_intervals_turned_round_keeps_their_order) {
  EXPECT_EQ((interval{1, 2, 3} * -2), (interval{-6, -4, -2}));
  EXPECT_EQ((interval{1, 2, 3} + interval{-1, 0, 2}), (interval{0, 2, 5}));
}

}  // namespace
