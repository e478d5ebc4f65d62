// A route changes when phases have lost the price of a change by it, and changes back if the next one is no better.
#include "aggregate/plan/route_choice.hpp"

#include <gtest/gtest.h>

namespace lull::aggregate {
namespace {

constexpr scheme alone{buffering::per_pe, 1}, shared{buffering::per_node, 1};

// Buffers per PE cost more at the end of a phase, those per node more per item: at 1,000 items the costs are equal.
plan taking(const scheme& how) {
  const std::vector<candidate> routes{
      {alone, {.route = 0, .sizes = {}, .ns_per_item = 10, .ns_per_phase = 50'000, .memory_bytes = 0}},
      {shared, {.route = 0, .sizes = {}, .ns_per_item = 40, .ns_per_phase = 20'000, .memory_bytes = 0}}};
  return {.how = how, .routes = routes, .predicted = routes, .taken = how == alone ? 0U : 1U};
}

constexpr model::correction_rules rules{.least_gain_of_a_route = 0};

route_choice choice_of(const plan& how, double price_ns, const route_choice::items& of = {}) {
  return {how, price_ns, rules, of};
}

// The number of phases of `items` items until another route is wanted; `most` if none is.
int phases_until_change(route_choice& choice, std::uint64_t items, int most, std::int64_t ns = 1000) {
  int phases = 0;
  while (phases < most && !choice.wanted()) {
    choice.phase_over(items, ns);
    ++phases;
  }
  return phases;
}

TEST(route_choice, short_phases_change_to_the_route_that_ends_them_for_less) {
  route_choice choice = choice_of(taking(alone), 270'000);
  EXPECT_EQ(phases_until_change(choice, 100, 50), 10) << "each loses 30,000 less 100 · 30";
  EXPECT_EQ(choice.wanted(), shared);
}

TEST(route_choice, an_item_with_an_answer_goes_two_ways) {
  route_choice choice = choice_of(taking(alone), 270'000, {.both_ways = true});
  EXPECT_EQ(phases_until_change(choice, 100, 50), 5);
}

TEST(route_choice, pes_that_share_a_core_handle_their_items_in_turn) {
  route_choice choice = choice_of(taking(alone), 240'000, {.turns = 2});
  EXPECT_EQ(phases_until_change(choice, 100, 50), 10) << "each loses 30,000 less 2 · 100 · 30";
  EXPECT_EQ(phases_until_change(choice, 600, 50), 0);
  choice.changed(taking(shared), 1'000);
  EXPECT_EQ(phases_until_change(choice, 600, 50), 1) << "600 are better by the first, by 6,000";
}

TEST(route_choice, bytes_are_counted_as_items) {
  route_choice choice = choice_of(taking(alone), 270'000, {.in_one = 60});
  EXPECT_EQ(phases_until_change(choice, 6000, 50), 10);
}

TEST(route_choice, long_phases_change_back) {
  route_choice choice = choice_of(taking(shared), 1'000'000);
  EXPECT_EQ(phases_until_change(choice, 100'000, 50), 1);
  EXPECT_EQ(choice.wanted(), alone);
}

TEST(route_choice, what_is_lost_in_one_phase_and_won_in_the_next_changes_nothing) {
  route_choice choice = choice_of(taking(alone), 270'000);
  for (int i = 0; i < 100; ++i) {
    choice.phase_over(100, 1000);
    choice.phase_over(3000, 1000);
    EXPECT_FALSE(choice.wanted());
  }
}

TEST(route_choice, a_small_gain_is_not_worth_a_change) {
  route_choice choice(taking(alone), 1, {.least_gain_of_a_route = 0.55}, {});
  EXPECT_EQ(phases_until_change(choice, 100, 50), 50) << "23,000 of 51,000";
  EXPECT_EQ(phases_until_change(choice, 10, 50), 1) << "20,400 of 50,100";
}

TEST(route_choice, nothing_changes_where_nothing_is_corrected) {
  route_choice fixed(taking(alone), 1, {.off = true}, {});
  EXPECT_EQ(phases_until_change(fixed, 100, 50), 50);
}

constexpr int phases_to_tell = 32;

TEST(route_choice, a_route_that_is_slower_than_the_former_is_left_and_not_taken_again_for_such_phases) {
  route_choice choice = choice_of(taking(alone), 270'000);
  phases_until_change(choice, 100, 50, 51'000);
  choice.changed(taking(shared), 270'000);
  for (int i = 1; i < phases_to_tell; ++i) choice.phase_over(100, i < 16 ? 10'000 : 71'000);
  EXPECT_FALSE(choice.compares()) << "too few were seen yet";
  choice.phase_over(100, 71'000);
  const auto seen = choice.compares();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->before_ns, 51'000);
  EXPECT_EQ(seen->since_ns, 71'000);
  choice.judge(*seen);
  EXPECT_EQ(choice.wanted(), alone);
  choice.changed(taking(alone), 270'000);
  EXPECT_EQ(phases_until_change(choice, 100, 50), 50) << "its items cost 510 ns each";
  EXPECT_EQ(phases_until_change(choice, 10, 50), 11) << "of fewer items it is the quicker, by 30,000 less 5,000";
  EXPECT_EQ(choice.switches(), 2U);
}

TEST(route_choice, a_route_that_is_quicker_stays_and_may_change_later) {
  route_choice choice = choice_of(taking(alone), 270'000);
  phases_until_change(choice, 100, 50, 51'000);
  choice.changed(taking(shared), 270'000);
  for (int i = 0; i < phases_to_tell; ++i) choice.phase_over(100, 24'000);
  choice.judge(*choice.compares());
  EXPECT_FALSE(choice.compares()) << "once is enough";
  EXPECT_FALSE(choice.wanted());
  EXPECT_EQ(phases_until_change(choice, 100'000, 50), 1);
}

TEST(route_choice, phases_of_other_sizes_tell_nothing) {
  route_choice choice = choice_of(taking(alone), 270'000);
  phases_until_change(choice, 100, 50, 1000);
  choice.changed(taking(shared), 270'000);
  for (int i = 0; i < phases_to_tell; ++i) choice.phase_over(500, 5000);
  EXPECT_FALSE(choice.compares());
}

TEST(route_choice, phases_that_were_slow_because_memory_was_new_say_nothing_of_what_items_cost) {
  route_choice choice = choice_of(taking(alone), 270'000);
  phases_until_change(choice, 100, 50, 500'000);
  choice.changed(taking(shared), 10'000);
  for (int i = 0; i < phases_to_tell; ++i) choice.phase_over(100, 72'000);
  const auto seen = choice.compares();
  ASSERT_TRUE(seen);
  EXPECT_FALSE(seen->like);
  choice.judge(*seen);
  EXPECT_FALSE(choice.wanted());
  EXPECT_EQ(phases_until_change(choice, 100, 50), 1) << "its items cost up to 520: all that is not the end";
  EXPECT_EQ(choice.wanted(), alone) << "and the other's 10, until that is seen";
  choice.changed(taking(alone), 10'000);
  for (int i = 0; i < phases_to_tell; ++i) choice.phase_over(100, 90'000);
  ASSERT_TRUE(choice.compares()->like);
  choice.judge(*choice.compares());
  EXPECT_EQ(choice.wanted(), shared);
  choice.changed(taking(shared), 10'000);
  EXPECT_EQ(phases_until_change(choice, 100, 50), 50);
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
