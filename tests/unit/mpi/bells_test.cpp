#include "mpi/waiting/bells.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/clock.hpp"

namespace lull::mpi {
namespace {

using namespace std::chrono_literals;
constexpr std::int64_t second = 1'000'000'000;

// Unique to this process, so that tests can run in parallel.
std::string a_name() {
  static std::atomic<int> number{0};
  return "/lull-bells-test-" + std::to_string(getpid()) + "-" + std::to_string(number++);
}

struct two_ranks {
  std::string name = a_name();
  std::unique_ptr<node_bells> first = node_bells::join(name, 10, 2);
  std::unique_ptr<node_bells> second = node_bells::join(name, 11, 2);
};

TEST(bells, are_complete_when_all_say_that_they_ring) {
  two_ranks node;
  EXPECT_FALSE(node.first->complete());
  node.first->will_ring();
  EXPECT_FALSE(node.first->complete());
  EXPECT_EQ(node.second->ranks_here(), 1);
  node.second->will_ring();
  EXPECT_TRUE(node.first->complete());
  EXPECT_TRUE(node.second->complete());
}

TEST(bells, have_no_name_once_all_are_there) {
  const std::string name = a_name();
  const auto first = node_bells::join(name, 0, 2);
  const int file = shm_open(name.c_str(), O_RDONLY, 0);
  EXPECT_GE(file, 0);
  close(file);
  const auto second = node_bells::join(name, 1, 2);
  EXPECT_LT(shm_open(name.c_str(), O_RDONLY, 0), 0);
}

TEST(bells, lose_their_name_at_the_end_also_when_a_rank_never_came) {
  const std::string name = a_name();
  const auto only = node_bells::join(name, 0, 2);
  only->remove_name();
  EXPECT_LT(shm_open(name.c_str(), O_RDONLY, 0), 0);
}

TEST(bells, are_found_by_the_rank_in_the_world) {
  two_ranks node;
  EXPECT_EQ(node.first->index_of(10), node.first->mine());
  EXPECT_EQ(node.first->index_of(11), node.second->mine());
  EXPECT_EQ(node.first->index_of(12), -1);
}

TEST(bells, show_senders_who_is_about_to_sleep) {
  two_ranks node;
  EXPECT_EQ(*node.second->somebody(), 0U);
  ASSERT_TRUE(node.first->announce());
  EXPECT_EQ(*node.second->somebody(), 1U);
  node.first->awake();
  EXPECT_EQ(*node.second->somebody(), 0U);
}

TEST(bells, let_one_thread_of_a_process_sleep) {
  two_ranks node;
  ASSERT_TRUE(node.first->announce());
  EXPECT_FALSE(node.first->announce());
  node.first->awake();
  EXPECT_TRUE(node.first->announce());
  node.first->awake();
}

TEST(bells, a_sleep_is_bounded) {
  two_ranks node;
  ASSERT_TRUE(node.first->announce());
  EXPECT_EQ(node.first->sleep(1'000'000), wait::wake::timed_out);
  node.first->awake();
}

TEST(bells, who_was_rung_since_it_announced_itself_does_not_sleep) {
  two_ranks node;
  ASSERT_TRUE(node.first->announce());
  node.second->ring(node.first->mine());
  EXPECT_TRUE(node.first->rung());
  EXPECT_EQ(node.first->sleep(60 * second), wait::wake::rung);
  node.first->awake();
}

TEST(bells, a_ring_wakes_who_sleeps) {
  two_ranks node;
  for (int round = 0; round < 200; ++round) {
    std::atomic<bool> sleeps{false};
    std::thread sleeper([&] {
      ASSERT_TRUE(node.first->announce());
      sleeps = true;
      EXPECT_EQ(node.first->sleep(60 * second), wait::wake::rung);
      node.first->awake();
    });
    while (!sleeps) std::this_thread::yield();
    if (round % 2 == 0) std::this_thread::sleep_for(100us);
    node.second->ring(node.first->mine());
    sleeper.join();
  }
}

// The litmus test of the protocol in bells.hpp: two ranks pass a number back and forth. A sender stores it and loads
// somebody() without a fence; a sleeper announces itself, and looks for the number as long as is required. The sender
// begins up to 8 microseconds after the number has arrived, so that its store and its load meet each step of the
// sleeper. A wake-up that is missed shows as a time-out.
TEST(bells, no_wake_up_is_missed_although_senders_execute_no_fence) {
  constexpr int rounds = 10'000;
  constexpr std::int64_t longest_delay_ns = 8'000;
  two_ranks node;
  alignas(64) std::atomic<int> turn{0};
  std::atomic<int> sleeps{0}, time_outs{0};
  const auto player = [&](int me, node_bells& mine, node_bells& other) {
    for (int round = 0; round < rounds; ++round) {
      const auto came = [&] { return turn.load(std::memory_order_acquire) == 2 * round + me; };
      while (!came()) {
        ASSERT_TRUE(mine.announce());
        const std::int64_t until = now_ns() + node_bells::long_enough_to_see_ns;
        int looks = 0;
        while (!came() && !mine.rung() && (++looks < 2 || now_ns() < until)) continue;
        if (!came() && !mine.rung()) {
          ++sleeps;
          if (mine.sleep(20 * second) == wait::wake::timed_out) ++time_outs;
        }
        mine.awake();
      }
      const std::int64_t begin = now_ns() + round * std::int64_t{37} % longest_delay_ns;
      while (now_ns() < begin) continue;
      turn.store(2 * round + me + 1, std::memory_order_release);
#if !defined(__x86_64__)
      std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
      if (__atomic_load_n(mine.somebody(), __ATOMIC_RELAXED) != 0) mine.ring(other.mine());
    }
  };
  std::thread second_rank([&] { player(1, *node.second, *node.first); });
  player(0, *node.first, *node.second);
  second_rank.join();
  EXPECT_EQ(time_outs, 0);
  EXPECT_GT(sleeps, 0);
}

TEST(bells, a_ring_wakes_who_sleeps_on_descriptors) {
  two_ranks node;
  const int quiet = eventfd(0, EFD_CLOEXEC);
  const std::vector<pollfd> fds{{.fd = quiet, .events = POLLIN, .revents = 0}};
  for (int round = 0; round < 200; ++round) {
    std::atomic<bool> sleeps{false};
    std::thread sleeper([&] {
      ASSERT_TRUE(node.first->announce());
      sleeps = true;
      EXPECT_EQ(node.first->sleep(fds, 60 * second), wait::wake::rung);
      node.first->awake();
    });
    while (!sleeps) std::this_thread::yield();
    if (round % 2 == 0) std::this_thread::sleep_for(100us);
    node.second->ring(node.first->mine());
    sleeper.join();
  }
  close(quiet);
}

TEST(bells, a_descriptor_wakes_who_sleeps_on_it) {
  two_ranks node;
  const int event = eventfd(1, EFD_CLOEXEC);
  const std::vector<pollfd> fds{{.fd = event, .events = POLLIN, .revents = 0}};
  ASSERT_TRUE(node.first->announce());
  EXPECT_EQ(node.first->sleep(fds, 60 * second), wait::wake::rung);
  node.first->awake();
  close(event);
}

TEST(bells, a_ring_that_comes_late_is_none_that_was_missed) {
  two_ranks node;
  EXPECT_FALSE(node.first->missed());
  ASSERT_TRUE(node.first->announce());
  node.first->awake_in_doubt();
  EXPECT_EQ(*node.second->somebody(), 1U) << "it may still be rung";
  node.second->ring(node.first->mine());
  EXPECT_FALSE(node.first->missed());
  EXPECT_EQ(*node.second->somebody(), 0U);

  ASSERT_TRUE(node.first->announce());
  node.first->awake_in_doubt();
  while (!node.first->missed()) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(node.first->missed()) << "it is said once";
  EXPECT_EQ(*node.second->somebody(), 0U);
}

TEST(bells, a_rank_in_doubt_sleeps_again_and_is_counted_once) {
  two_ranks node;
  ASSERT_TRUE(node.first->announce());
  node.first->awake_in_doubt();
  for (int again = 0; again < 3; ++again) {
    ASSERT_TRUE(node.first->announce());
    EXPECT_EQ(*node.second->somebody(), 1U);
    node.first->awake();
    EXPECT_EQ(*node.second->somebody(), 1U) << "nobody knows yet whether it was missed";
  }
  node.second->ring(node.first->mine());
  EXPECT_FALSE(node.first->missed());
  EXPECT_EQ(*node.second->somebody(), 0U);
}

TEST(bells, threads_that_ask_at_once_whether_a_ring_was_missed_agree) {
  two_ranks node;
  for (int round = 0; round < 300; ++round) {
    ASSERT_TRUE(node.first->announce());
    node.first->awake_in_doubt();
    node.second->ring(node.first->mine());
    std::thread other([&] { EXPECT_FALSE(node.first->missed()); });
    EXPECT_FALSE(node.first->missed());
    other.join();
    EXPECT_FALSE(node.first->missed());
    ASSERT_EQ(*node.second->somebody(), 0U) << "each announcement ends once";
  }
}

TEST(bells, take_all_their_memory_before_they_are_used) {
  const std::string name = a_name();
  const auto only = node_bells::join(name, 0, 2);
  const int file = shm_open(name.c_str(), O_RDONLY, 0);
  struct stat status {};
  ASSERT_EQ(fstat(file, &status), 0);
  EXPECT_GE(status.st_blocks * 512, status.st_size);
  EXPECT_GE(status.st_size, static_cast<off_t>(2 * node_bells::bytes_of_report));
  close(file);
  only->remove_name();
}

TEST(bells, fragments_given_back_wake_only_those_that_sent_to_there) {
  two_ranks node;
  ASSERT_TRUE(node.first->announce());
  node.second->ring_those_that_sent_to_me();
  EXPECT_FALSE(node.first->rung());
  node.first->sent_to(node.second->mine());
  node.second->ring_those_that_sent_to_me();
  EXPECT_TRUE(node.first->rung());
  node.first->awake();
}

TEST(bells, ring_others_wakes_all_but_the_one_that_rings) {
  two_ranks node;
  ASSERT_TRUE(node.first->announce());
  node.first->ring_others();
  EXPECT_FALSE(node.first->rung());
  node.second->ring_others();
  EXPECT_TRUE(node.first->rung());
  node.first->awake();
}

TEST(bells, a_ring_is_passed_on_once) {
  two_ranks node;
  node.second->ring_others();
  ASSERT_TRUE(node.second->announce());
  node.first->ring_others(true);
  EXPECT_TRUE(node.second->rung());
  node.second->awake();
  ASSERT_TRUE(node.second->announce());
  node.first->ring_others(true);
  EXPECT_FALSE(node.second->rung());
  node.second->awake();
}

TEST(bells, nobody_rings_a_quiet_rank) {
  two_ranks node;
  ASSERT_TRUE(node.first->announce(true));
  EXPECT_EQ(*node.second->somebody(), 0U);
  node.second->ring_others();
  EXPECT_FALSE(node.first->rung());
  EXPECT_EQ(node.first->sleep(1'000), wait::wake::timed_out);
  node.first->awake();
  ASSERT_TRUE(node.first->announce());
  EXPECT_EQ(*node.second->somebody(), 1U);
  node.first->awake();
}

TEST(bells, the_last_to_report_knows_it) {
  two_ranks node;
  EXPECT_FALSE(node.second->last_to_report());
  EXPECT_TRUE(node.first->last_to_report());
  EXPECT_NE(node.first->report_of(0).data(), node.first->report_of(1).data());
}

}  // namespace
}  // namespace lull::mpi
