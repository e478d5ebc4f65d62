// Sequences of what output has cost, and what they let a client do with the next file.
#include "model/handing_over.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace lull::model {
namespace {

constexpr double bytes = 1e6;

// A client that meets the same costs for a while; its decisions as letters, h and w.
class client {
 public:
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
  EXPECT_EQ(waits_long.files(8, false, 5, 1), "hwwwwwww");
  EXPECT_EQ(writes_slowly.files(8, false, 1, 5), "hwhhhhhh");
}

TEST(model_handing_over, costs_that_differ_little_change_nothing) {
  client one;
  EXPECT_EQ(one.files(9, false, 1, 0.85), "hwhhhhhhh");
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
  EXPECT_EQ(decides.next(false), output_turn::hand_over);
}

}  // namespace
}  // namespace lull::model
