// A route is changed when phases have lost by it what a change costs, and changed back when the next is no better.
#include "aggregate/route_choice.hpp"

#include <gtest/gtest.h>

namespace lull::aggregate {
namespace {

constexpr scheme alone{buffering::per_pe, 1}, shared{buffering::per_node, 1};

// Buffers of each PE cost more at the end of a phase, those of a node more for each item: 1,000 items are alike.
plan taking(const scheme& how) {
  const std::vector<candidate> routes{
      {alone, {.route = 0, .sizes = {}, .ns_per_item = 10, .ns_per_phase = 50'000, .memory_bytes = 0}},
      {shared, {.route = 0, .sizes = {}, .ns_per_item = 40, .ns_per_phase = 20'000, .memory_bytes = 0}}};
  return {.how = how, .routes = routes, .predicted = routes, .taken = how == alone ? 0U : 1U};
}

constexpr model::correction_rules rules{.least_gain = 0};

route_choice choice_of(const plan& how, double price_ns, double items_in_one = 1, bool both_ways = false) {
  return {
      how, {price_ns, how.routes[how.taken].found.ns_per_phase * (both_ways ? 2 : 1)}, rules, items_in_one, both_ways};
}

// How many phases of so many items pass until another route is wanted; `most` when none is.
int phases_until_change(route_choice& choice, std::uint64_t items, int most, std::int64_t ns = 1000) {
  int phases = 0;
  while (phases < most && !choice.wanted()) {
    choice.phase_over(items, ns);
    ++phases;
  }
  return phases;
}

TEST(route_choice, short_phases_change_to_the_route_that_ends_them_for_less) {
  route_choice choice = choice_of(taking(alone), 270'000, 1, false);
  EXPECT_EQ(phases_until_change(choice, 100, 50), 10) << "each loses 30,000 less 100 · 30";
  EXPECT_EQ(choice.wanted(), shared);
}

TEST(route_choice, an_item_with_an_answer_goes_two_ways) {
  route_choice choice = choice_of(taking(alone), 270'000, 1, true);
  EXPECT_EQ(phases_until_change(choice, 100, 50), 5);
}

TEST(route_choice, what_ends_a_phase_is_measured_and_the_others_are_off_by_as_much) {
  route_choice choice(taking(alone), {270'000, 500'000}, rules, 1, false);
  EXPECT_EQ(phases_until_change(choice, 100, 50), 1) << "ten times as long: each loses 300,000 less 3,000";
  choice.changed(taking(shared), {270'000, 600'000});
  EXPECT_EQ(phases_until_change(choice, 100, 50), 3) << "the former, 100,000 less and 3,000 more";
  EXPECT_EQ(choice.wanted(), alone);
}

TEST(route_choice, bytes_are_counted_as_items) {
  route_choice choice = choice_of(taking(alone), 270'000, 60, false);
  EXPECT_EQ(phases_until_change(choice, 6000, 50), 10);
}

TEST(route_choice, long_phases_change_back) {
  route_choice choice = choice_of(taking(shared), 1'000'000, 1, false);
  EXPECT_EQ(phases_until_change(choice, 100'000, 50), 1);
  EXPECT_EQ(choice.wanted(), alone);
}

TEST(route_choice, what_is_lost_in_one_phase_and_won_in_the_next_changes_nothing) {
  route_choice choice = choice_of(taking(alone), 270'000, 1, false);
  for (int i = 0; i < 100; ++i) {
    choice.phase_over(100, 1000);
    choice.phase_over(3000, 1000);
    EXPECT_FALSE(choice.wanted());
  }
}

TEST(route_choice, a_small_gain_is_not_worth_a_change) {
  route_choice choice(taking(alone), {1, 50'000}, {.least_gain = 0.55, .doubt = 0}, 1, false);
  EXPECT_EQ(phases_until_change(choice, 100, 50), 50) << "23,000 of 51,000";
  EXPECT_EQ(phases_until_change(choice, 10, 50), 1) << "20,400 of 50,100";
}

TEST(route_choice, nothing_changes_where_nothing_is_corrected) {
  route_choice fixed(taking(alone), {1, 50'000}, {.off = true}, 1, false);
  EXPECT_EQ(phases_until_change(fixed, 100, 50), 50);
}

constexpr int phases_to_tell = 32;

TEST(route_choice, a_route_that_is_slower_than_the_former_is_left_and_not_taken_again_for_such_phases) {
  route_choice choice = choice_of(taking(alone), 270'000);
  phases_until_change(choice, 100, 50, 51'000);
  choice.changed(taking(shared), {270'000, 20'000});
  for (int i = 1; i < phases_to_tell; ++i) choice.phase_over(100, i < 16 ? 10'000 : 71'000);
  EXPECT_FALSE(choice.compares()) << "too few were seen yet";
  choice.phase_over(100, 71'000);
  const auto seen = choice.compares();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->before_ns, 51'000);
  EXPECT_EQ(seen->since_ns, 71'000);
  choice.judge(*seen);
  EXPECT_EQ(choice.wanted(), alone);
  choice.changed(taking(alone), {270'000, 50'000});
  EXPECT_EQ(phases_until_change(choice, 100, 50), 50) << "its items cost 510 ns each";
  EXPECT_EQ(phases_until_change(choice, 10, 50), 11) << "of fewer items it is the quicker, by 30,000 less 5,000";
  EXPECT_EQ(choice.switches(), 2U);
}

TEST(route_choice, a_route_that_is_quicker_stays_and_may_change_later) {
  route_choice choice = choice_of(taking(alone), 270'000);
  phases_until_change(choice, 100, 50, 51'000);
  choice.changed(taking(shared), {270'000, 20'000});
  for (int i = 0; i < phases_to_tell; ++i) choice.phase_over(100, 24'000);
  choice.judge(*choice.compares());
  EXPECT_FALSE(choice.compares()) << "once is enough";
  EXPECT_FALSE(choice.wanted());
  EXPECT_EQ(phases_until_change(choice, 100'000, 50), 1);
}

TEST(route_choice, phases_of_other_sizes_tell_nothing) {
  route_choice choice = choice_of(taking(alone), 270'000, 1, false);
  phases_until_change(choice, 100, 50, 1000);
  choice.changed(taking(shared), {270'000, 20'000});
  for (int i = 0; i < phases_to_tell; ++i) choice.phase_over(500, 5000);
  EXPECT_FALSE(choice.compares());
}

// With a third route, whose phases lie between: of 100 items 32,000, where the others take 51,000 and 24,000.
constexpr scheme between{buffering::per_pe, 2};
plan of_three(const scheme& how) {
  plan made = taking(how);
  made.routes.push_back(
      {between, {.route = 0, .sizes = {}, .ns_per_item = 20, .ns_per_phase = 30'000, .memory_bytes = 0}});
  made.predicted = made.routes;
  if (how == between) made.taken = 2;
  return made;
}

TEST(route_choice, a_route_that_may_be_better_than_predicted_is_tried_when_that_costs_little) {
  route_choice choice = choice_of(of_three(shared), 10'000);
  EXPECT_EQ(phases_until_change(choice, 100, 1000), 115) << "2 · 10,000 + 32 · 8,000 is a tenth of 115 · 24,000";
  EXPECT_EQ(choice.wanted(), between) << "half of 51,000 would not be better";
}

// It changes, sees enough phases of 100 items, and compares.
void change_and_compare(route_choice& choice, const plan& how, double empty_ns, std::int64_t phase_ns) {
  choice.changed(how, {10'000, empty_ns});
  for (int i = 0; i < phases_to_tell; ++i) choice.phase_over(100, phase_ns);
  choice.judge(*choice.compares());
}

TEST(route_choice, a_trial_that_is_quicker_stays) {
  route_choice choice = choice_of(of_three(shared), 10'000);
  phases_until_change(choice, 100, 1000, 24'000);
  change_and_compare(choice, of_three(between), 12'000, 14'000);
  EXPECT_EQ(phases_until_change(choice, 100, 10'000), 10'000);
}

TEST(route_choice, a_trial_that_is_slower_is_over_and_not_made_again) {
  route_choice choice = choice_of(of_three(shared), 10'000);
  phases_until_change(choice, 100, 1000, 24'000);
  change_and_compare(choice, of_three(between), 30'000, 32'000);
  EXPECT_EQ(choice.wanted(), shared);
  change_and_compare(choice, of_three(shared), 20'000, 24'000);
  EXPECT_EQ(phases_until_change(choice, 100, 10'000), 10'000);
}

TEST(route_choice, without_doubt_nothing_is_tried) {
  const plan how = of_three(shared);
  route_choice choice(how, {10'000, 20'000}, {.least_gain = 0, .doubt = 0}, 1, false);
  EXPECT_EQ(phases_until_change(choice, 100, 10'000), 10'000);
}

TEST(route_choice, the_account_says_what_an_item_costs_with_its_share_of_the_phase) {
  const plan how = taking(shared);
  const route_choice choice = choice_of(how, 1);
  const auto account = choice.account(how, 4, 400, 300);
  ASSERT_TRUE(account);
  ASSERT_EQ(account->alternatives.size(), 2U);
  const auto& [first, second] = std::tie(account->alternatives[0], account->alternatives[1]);
  EXPECT_EQ(second.name, "per-node, 1 hop");
  EXPECT_DOUBLE_EQ(*second.predicted_ns, 20'000 / 100.0 + 40);
  EXPECT_DOUBLE_EQ(*second.observed_ns, 300);
  EXPECT_EQ(second.operations, 400U);
  EXPECT_DOUBLE_EQ(*first.corrected_ns, 50'000 / 100.0 + 10 + 300 - 240) << "beside the route it costs the same";
  EXPECT_EQ(first.operations, 0U);
}

}  // namespace
}  // namespace lull::aggregate
