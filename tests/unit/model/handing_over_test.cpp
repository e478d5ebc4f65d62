// Sequences of output costs, and the client's decision for the next file.
#include "model/choices/handing_over.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

namespace lull::model {
namespace {

constexpr double bytes = 1e6;

machine with_rates(double writer_bytes_per_s, double copy_bytes_per_s, bool corrected = true) {
  machine on;
  on.correction.off = !corrected;
  on.output.writer_bytes_per_s = writer_bytes_per_s;
  on.output.copy_bytes_per_s = copy_bytes_per_s;
  return on;
}

// A client with constant costs for a while; its decisions as letters, h and w.
class client {
 public:
  explicit client(const machine& on = {}) : decides_(on) {}
  std::string files(int count, bool room, double handing_s, double own_s) {
    std::string turns;
    for (int i = 0; i < count; ++i) {
      const output_turn turn = decides_.next(room);
      turns += turn == output_turn::hand_over ? 'h' : 'w';
      if (turn == output_turn::hand_over)
        decides_.handed_over(room, handing_s, bytes);
      else
        decides_.wrote_itself(own_s, bytes);
    }
    return turns;
  }

 private:
  handing_over decides_;
};

int count_of(char letter, const std::string& in) { return static_cast<int>(std::ranges::count(in, letter)); }

TEST(model_handing_over, with_room_everything_is_handed_over) {
  client one;
  EXPECT_EQ(one.files(50, true, 0.1, 0), std::string(50, 'h'));
}

TEST(model_handing_over, without_room_both_ways_are_tried_and_the_cheaper_one_stays) {
  client waits_long, writes_slowly;
  EXPECT_EQ(waits_long.files(8, false, 5, 1), "whwwwwww");
  EXPECT_EQ(writes_slowly.files(8, false, 1, 5), "whhhhhhh");
}

TEST(model_handing_over, costs_that_differ_little_change_nothing) {
  client one;
  EXPECT_EQ(one.files(9, false, 0.85, 1), "whwwwwwww");
}

TEST(model_handing_over, a_way_that_has_become_cheaper_is_found) {
  client one;
  (void)one.files(5, false, 5, 1);
  const std::string turns = one.files(400, false, 0.1, 1);
  EXPECT_GE(count_of('h', turns.substr(100)), 295) << turns;
}

TEST(model_handing_over, trials_cost_a_small_share) {
  client one;
  (void)one.files(2, false, 1, 100);
  const std::string turns = one.files(10'000, false, 1, 100);
  EXPECT_LE(count_of('w', turns) * 99, 0.06 * 10'000);
  EXPECT_GE(count_of('w', turns), 2);
}

TEST(model_handing_over, a_trial_may_cost_just_its_share_of_what_was_spent_since_the_last) {
  machine on;
  on.output.trial_share = 0.25;
  client one(on), dearer(on);
  // Writing takes 1 s per byte: after eight files a trial may cost 2 more.
  EXPECT_EQ(one.files(10, false, 3 * bytes, 1 * bytes), "whwwwwwwwh");
  EXPECT_EQ(dearer.files(10, false, 3.1 * bytes, 1 * bytes), "whwwwwwwww");
}

TEST(model_handing_over, room_and_no_room_are_decided_apart) {
  client one;
  (void)one.files(5, false, 5, 1);
  EXPECT_EQ(one.files(5, true, 0.1, 1), "hhhhh");
  EXPECT_EQ(one.files(5, false, 5, 1), "wwwww");
}

TEST(model_handing_over, small_files_say_nothing) {
  handing_over decides;
  decides.handed_over(false, 100, 1000);
  decides.wrote_itself(0.001, 1000);
  const output_turn first = handing_over().next(false);
  EXPECT_EQ(decides.next(false), first);
}

TEST(model_handing_over, without_correction_each_situation_keeps_what_is_predicted_to_be_cheaper) {
  client one(with_rates(1e9, 2.6e9, false));
  EXPECT_EQ(one.files(20, false, 1, 5), std::string(20, 'w'));
  EXPECT_EQ(one.files(20, true, 5, 1), std::string(20, 'h'));
  client slow_copies(with_rates(2e9, 1e9, false));
  EXPECT_EQ(slow_copies.files(20, true, 1, 5), std::string(20, 'w'));
}

// The machine file says that writing is ten times as fast as it is, and copying a quarter as fast.
TEST(model_handing_over, a_wrong_machine_is_found_out_by_the_first_files) {
  client one(with_rates(1e10, 6.5e8));
  EXPECT_EQ(one.files(20, true, 0.0004, 0.001), std::string(20, 'h'));
  const std::string turns = one.files(100, false, 0.5, 1);
  EXPECT_GE(count_of('h', turns.substr(2)), 94) << turns;
}

TEST(model_handing_over, what_it_has_come_to_is_told_by_situation) {
  handing_over decides;
  for (int i = 0; i < 4; ++i) {
    (void)decides.next(true);
    decides.handed_over(true, 0.001, bytes);
  }
  (void)decides.next(false);
  decides.wrote_itself(0.002, bytes);
  const auto accounts = accounts_of(decides.turns(), 1);
  ASSERT_EQ(accounts.size(), 2U);
  const choice_account& without = accounts[0];
  EXPECT_EQ(without.where, "without room");
  EXPECT_EQ(without.alternatives[0].operations, 0U);
  EXPECT_DOUBLE_EQ(without.alternatives[1].observed_ns.value(), 2e6);
  const alternative_account& handed = accounts[1].alternatives[0];
  EXPECT_EQ(handed.operations, 4U);
  EXPECT_NEAR(handed.predicted_ns.value(), 1e9 * bytes / machine{}.output.copy_bytes_per_s, 1);
  EXPECT_NEAR(handed.corrected_ns.value(), 1e6, 1);
  EXPECT_NEAR(handed.observed_ns.value(), 1e6, 1);
}

output_turns turns_of(double factor) {
  output_turns made{.ways = {}, .switches = static_cast<std::uint64_t>(factor)};
  made.ways[0] = {.files = static_cast<std::uint64_t>(factor),
                  .bytes = factor,
                  .seconds = 2 * factor,
                  .predicted_s = 3 * factor,
                  .corrected_s = 4 * factor};
  made.ways[1] = {.files = static_cast<std::uint64_t>(3 * factor),
                  .bytes = 3 * factor,
                  .seconds = 30 * factor,
                  .predicted_s = 15 * factor,
                  .corrected_s = 18 * factor};
  return made;
}

TEST(model_handing_over, clients_add_up) {
  output_turns_by_room all{turns_of(1), turns_of(2)};
  all += {turns_of(4), turns_of(8)};
  const output_turns sums[]{turns_of(5), turns_of(10)};
  for (const auto& [found, sum] : {std::pair(all.without, sums[0]), std::pair(all.with, sums[1])}) {
    EXPECT_EQ(found.switches, sum.switches);
    for (const std::size_t way : {0U, 1U}) {
      EXPECT_EQ(found.ways[way].files, sum.ways[way].files);
      EXPECT_EQ(found.ways[way].bytes, sum.ways[way].bytes);
      EXPECT_EQ(found.ways[way].seconds, sum.ways[way].seconds);
      EXPECT_EQ(found.ways[way].predicted_s, sum.ways[way].predicted_s);
      EXPECT_EQ(found.ways[way].corrected_s, sum.ways[way].corrected_s);
    }
  }
}

TEST(model_handing_over, costs_are_those_of_a_file_of_the_mean_size) {
  const auto accounts = accounts_of({turns_of(1), {}}, 7);  // four files of one byte
  ASSERT_EQ(accounts.size(), 1U) << "where there was no file there is no account";
  EXPECT_EQ(accounts[0].processes, 7);
  EXPECT_EQ(accounts[0].switches, 1U);
  const auto& [handed, wrote] = std::pair(accounts[0].alternatives[0], accounts[0].alternatives[1]);
  EXPECT_DOUBLE_EQ(handed.observed_ns.value(), 2e9);
  EXPECT_DOUBLE_EQ(wrote.observed_ns.value(), 10e9);
  EXPECT_DOUBLE_EQ(handed.predicted_ns.value(), 3e9 / 4);
  EXPECT_DOUBLE_EQ(wrote.corrected_ns.value(), 18e9 / 4);
}

}  // namespace
}  // namespace lull::model
