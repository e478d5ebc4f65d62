#include "fabric/wait/doorbell.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "base/clock.hpp"

namespace lull::fabric {
namespace {

constexpr std::int64_t second = 1'000'000'000;

TEST(doorbell, does_not_sleep_on_what_is_already_there) {
  doorbell bell{};
  EXPECT_EQ(bell.sleep([] { return true; }, second), wake::rung);
}

TEST(doorbell, a_sleep_is_bounded) {
  doorbell bell{};
  const std::int64_t begin = now_ns();
  EXPECT_EQ(bell.sleep([] { return false; }, second / 50), wake::timed_out);
  EXPECT_GE(now_ns() - begin, second / 50);
}

// Two threads hand a number back and forth, sleeping for it each time: one lost wake-up would show as a time-out.
TEST(doorbell, no_wake_up_is_missed_in_many_hand_overs) {
  constexpr int rounds = 20'000;
  doorbell bells[2]{};
  std::atomic<int> turn{0};
  std::atomic<int> timeouts{0};
  const auto player = [&](int me) {
    for (int round = 0; round < rounds; ++round) {
      const auto mine = [&] { return turn.load(std::memory_order_acquire) == 2 * round + me; };
      while (!mine())
        if (bells[me].sleep(mine, 20 * second) == wake::timed_out) ++timeouts;
      turn.store(2 * round + me + 1, std::memory_order_release);
      bells[1 - me].ring();
    }
  };
  std::thread other(player, 1);
  player(0);
  other.join();
  EXPECT_EQ(timeouts, 0);
  EXPECT_EQ(turn, 2 * rounds);
}

}  // namespace
}  // namespace lull::fabric
