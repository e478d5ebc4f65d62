#include "wait/doorbell.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/clock.hpp"

namespace lull::wait {
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

TEST(doorbell, one_ring_wakes_all_that_sleep) {
  doorbell bell{};
  std::atomic<bool> there{false};
  std::atomic<int> timeouts{0};
  const auto sleeper = [&] {
    const auto ready = [&] { return there.load(std::memory_order_acquire); };
    while (!ready())
      if (bell.sleep(ready, 20 * second) == wake::timed_out) ++timeouts;
  };
  for (int round = 0; round < 200; ++round) {
    there = false;
    std::thread first(sleeper), second_one(sleeper), third(sleeper);
    if (round % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    there.store(true, std::memory_order_release);
    bell.ring();
    first.join();
    second_one.join();
    third.join();
  }
  EXPECT_EQ(timeouts, 0);
}

// A thread that waits for the runtime sleeps through the program's stores, and the runtime wakes it.
TEST(doorbell, a_meeting_is_not_woken_by_stores) {
  doorbell bell{};
  EXPECT_EQ(bell.sleep([] { return false; }, 1'000'000, false), wake::timed_out);
  bell.ring_for_store();  // no one has announced that stores concern it
  std::atomic<bool> there{false};
  std::atomic<int> rung{0};
  std::thread sleeper([&] {
    const auto ready = [&] { return there.load(std::memory_order_acquire); };
    while (!ready())
      if (bell.sleep(ready, 20 * second, false) == wake::rung) ++rung;
  });
  for (int i = 0; i < 100'000; ++i) bell.ring_for_store();
  const int disturbed = rung;
  there.store(true, std::memory_order_release);
  bell.ring();
  sleeper.join();
  EXPECT_EQ(disturbed, 0);
}

TEST(doorbell, a_store_wakes_who_waits_for_it_beside_a_meeting) {
  doorbell bell{};
  std::atomic<bool> stored{false}, met{false};
  std::atomic<int> timeouts{0};
  const auto sleeper = [&](std::atomic<bool>& awaited, bool stores_too) {
    const auto ready = [&] { return awaited.load(std::memory_order_acquire); };
    while (!ready())
      if (bell.sleep(ready, 20 * second, stores_too) == wake::timed_out) ++timeouts;
  };
  for (int round = 0; round < 200; ++round) {
    stored = met = false;
    std::thread for_store([&] { sleeper(stored, true); }), for_meeting([&] { sleeper(met, false); });
    stored.store(true, std::memory_order_release);
    bell.ring_for_store();
    for_store.join();
    met.store(true, std::memory_order_release);
    bell.ring();
    for_meeting.join();
  }
  EXPECT_EQ(timeouts, 0);
}

// Many stores that are not awaited, each with a ring, and then the awaited one.
TEST(doorbell, a_sleeper_outlasts_rings_for_others) {
  doorbell bell{};
  std::atomic<int> count{0};
  constexpr int last = 300'000;
  int timeouts = 0;
  std::thread ringer([&] {
    for (int i = 1; i <= last; ++i) {
      count.store(i, std::memory_order_release);
      bell.ring();
    }
  });
  const auto ready = [&] { return count.load(std::memory_order_acquire) == last; };
  while (!ready())
    if (bell.sleep(ready, 20 * second) == wake::timed_out) ++timeouts;
  ringer.join();
  EXPECT_EQ(timeouts, 0);
}

// Two threads pass a number back and forth and sleep for it each time: one missed wake-up would show as a time-out.
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
}  // namespace lull::wait
