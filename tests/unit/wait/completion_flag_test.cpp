#include "wait/completion_flag.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace lull::wait {
namespace {

constexpr std::int64_t a_minute_ns = 60'000'000'000;

TEST(completion_flag, nobody_sleeps_for_what_is_done) {
  completion_flag flag;
  EXPECT_FALSE(flag.done());
  EXPECT_FALSE(flag.complete());
  EXPECT_TRUE(flag.done());
  EXPECT_EQ(flag.sleep(a_minute_ns), wake::rung);
  EXPECT_FALSE(flag.announce_sleep_on_transport());
}

TEST(completion_flag, who_completes_it_wakes_its_thread) {
  for (int i = 0; i < 100; ++i) {
    completion_flag flag;
    std::jthread other([&] {
      if (i % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
      EXPECT_FALSE(flag.complete());
    });
    while (!flag.done()) EXPECT_EQ(flag.sleep(a_minute_ns), wake::rung);
  }
}

TEST(completion_flag, who_sleeps_on_the_transport_is_to_be_woken_there) {
  completion_flag flag, woken;
  EXPECT_TRUE(flag.announce_sleep_on_transport());
  EXPECT_FALSE(flag.done());
  EXPECT_TRUE(flag.complete());
  EXPECT_TRUE(flag.done());
  EXPECT_TRUE(woken.announce_sleep_on_transport());
  woken.awake();
  EXPECT_FALSE(woken.complete());
}

TEST(completion_flag, a_sleep_ends_with_its_time) {
  completion_flag flag;
  EXPECT_EQ(flag.sleep(1), wake::timed_out);
  EXPECT_FALSE(flag.done());
  EXPECT_FALSE(flag.complete());
}

TEST(completion_flag, many_threads_wait_each_for_its_own) {
  std::vector<completion_flag> flags(8);
  std::vector<std::jthread> threads;
  for (auto& flag : flags)
    threads.emplace_back([&flag] {
      while (!flag.done()) (void)flag.sleep(a_minute_ns);
    });
  for (std::size_t i = flags.size(); i-- > 0;) {
    (void)flags[i].complete();
    threads[i].join();
  }
}

}  // namespace
}  // namespace lull::wait
