#include "mpi/waiting/idle_loop.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace lull::mpi {
namespace {

using namespace std::chrono_literals;
constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t forever = 60'000 * ms;  // a test that waits so long has failed
constexpr unsigned first_beats = 10;           // a number, so that no test depends on the clock

// The network has no descriptors; it only counts how often a rank was about to sleep.
std::atomic<unsigned> sleeps_begun{0};
arming answer_of_network = arming::none;
arming arm(std::vector<pollfd>&) {
  ++sleeps_begun;
  return answer_of_network;
}
constexpr port library{nullptr, nullptr, nullptr, nullptr, arm, nullptr};

std::string a_name() {
  static std::atomic<int> number{0};
  return "/lull-idle-loop-test-" + std::to_string(getpid()) + "-" + std::to_string(number++);
}

// Two ranks of a node: one waits in a loop, and the test rings as the other.
class idle_loop_of_a_rank : public testing::Test {
 protected:
  idle_loop_of_a_rank() {
    const std::string name = a_name();
    process.policy = wait::wait_policy::interrupt;
    process.limits = {.spin_ns = 0, .yields = 0, .timeout_ns = forever, .oversubscribed = false, .threshold = 16384};
    process.through = &library;
    process.facts.beats_before_clock = process.facts.beats_before_waiting = first_beats;
    process.bells = node_bells::join(name, 0, 2);
    other = node_bells::join(name, 1, 2);
    process.bells->will_ring();
    other->will_ring();
    process.oversubscription_known = true;
    answer_of_network = arming::none;
    sleeps_begun = 0;
    call = {};
    call.function = "MPI_Recv";
    call.active = true;
  }

  [[nodiscard]] bool is_announced() const { return *process.bells->somebody() != 0; }
  void idle(unsigned turns = 1) {
    for (; turns != 0; --turns) {
      ++call.beats;
      loop.beat(call, turn::idle);
    }
  }
  // Until a turn has slept.
  void sleep() {
    for (const unsigned before = sleeps_begun; sleeps_begun == before;) idle();
  }
  // The same, rung by the other rank.
  void sleep_until_rung() {
    const unsigned before = sleeps_begun;
    std::atomic<bool> is_over{false};
    std::thread rings([&] {
      while (!is_over) {
        if (sleeps_begun != before) other->ring(0);
        std::this_thread::sleep_for(100us);
      }
    });
    sleep();
    is_over = true;
    rings.join();
  }

  waiting_process process{};
  std::unique_ptr<node_bells> other;
  idle_loop loop{process};
  call_under_way& call = this_call;
};

TEST_F(idle_loop_of_a_rank, does_nothing_in_the_first_turns) {
  idle(first_beats - 1);
  EXPECT_FALSE(is_announced());
  EXPECT_EQ(loop.over(call).waits, 0);
}

TEST_F(idle_loop_of_a_rank, announces_a_sleep_first) {
  idle(first_beats);
  EXPECT_TRUE(is_announced());
  EXPECT_NE(loop.announcement(), 0);
  EXPECT_EQ(sleeps_begun, 0);
  EXPECT_EQ(loop.over(call).waits, 1);
  EXPECT_FALSE(is_announced());
}

TEST_F(idle_loop_of_a_rank, does_not_sleep_if_rung_since) {
  idle(first_beats);
  other->ring(0);
  idle();
  EXPECT_FALSE(is_announced());
  EXPECT_EQ(loop.over(call).sleeps, 0);
  EXPECT_EQ(sleeps_begun, 0);
}

TEST_F(idle_loop_of_a_rank, does_not_sleep_if_something_has_come_since) {
  idle(first_beats);
  loop.beat(call, turn::advanced);
  EXPECT_FALSE(is_announced());
  EXPECT_EQ(call.came, 1);
  EXPECT_EQ(loop.over(call).sleeps, 0);
}

TEST_F(idle_loop_of_a_rank, does_not_sleep_if_its_network_has_something) {
  answer_of_network = arming::not_now;
  sleep();
  EXPECT_FALSE(is_announced());
  EXPECT_EQ(loop.over(call).sleeps, 0);
}

TEST_F(idle_loop_of_a_rank, does_not_sleep_without_descriptors_if_another_node_may_send) {
  process.spans_nodes = true;
  sleep();
  EXPECT_FALSE(is_announced());
  EXPECT_EQ(loop.over(call).sleeps, 0);
}

TEST_F(idle_loop_of_a_rank, does_not_sleep_until_all_ranks_ring) {
  process.bells = node_bells::join(a_name(), 0, 2);
  process.bells->will_ring();
  idle(10 * first_beats);
  EXPECT_FALSE(is_announced());
  EXPECT_EQ(loop.over(call).sleeps, 0);
  EXPECT_NE(process.last_refused_ns, 0);
  process.bells->remove_name();
}

TEST_F(idle_loop_of_a_rank, polls_for_windows) {
  call.function = "MPI_Win_fence";
  idle(10 * first_beats);
  EXPECT_FALSE(is_announced());
  EXPECT_EQ(loop.over(call).waits, 1);
}

TEST_F(idle_loop_of_a_rank, is_woken_by_a_ring) {
  sleep_until_rung();
  loop.beat(call, turn::advanced);
  EXPECT_FALSE(is_announced());
  const wait::wait_counts counts = loop.over(call);
  EXPECT_EQ(counts.sleeps, 1);
  EXPECT_EQ(counts.timeouts, 0);
}

TEST_F(idle_loop_of_a_rank, counts_a_message_for_which_no_rank_rings_as_missed) {
  process.limits.timeout_ns = 5 * ms;
  sleep();
  loop.beat(call, turn::advanced);
  EXPECT_TRUE(is_announced()) << "its sender may still ring";
  std::this_thread::sleep_for(std::chrono::nanoseconds(node_bells::long_enough_to_ring_ns));
  idle(first_beats);
  const wait::wait_counts counts = loop.over(call);
  EXPECT_EQ(counts.timeouts, 1);
  EXPECT_EQ(counts.missed, 1);
}

TEST_F(idle_loop_of_a_rank, counts_a_message_whose_sender_rings_late_as_rung) {
  process.limits.timeout_ns = 5 * ms;
  sleep();
  loop.beat(call, turn::advanced);
  other->ring(0);
  idle(first_beats);
  EXPECT_EQ(loop.over(call).missed, 0);
}

TEST_F(idle_loop_of_a_rank, is_quiet_after_four_wake_ups_for_nothing) {
  for (int i = 0; i < 4; ++i) sleep_until_rung();
  sleep();  // no rank rings: a nap
  EXPECT_FALSE(is_announced());
  const wait::wait_counts counts = loop.over(call);
  EXPECT_EQ(counts.sleeps, 5);
  EXPECT_EQ(counts.timeouts, 1);
}

TEST_F(idle_loop_of_a_rank, naps_if_arrivals_pass_unseen) {
  process.facts.every_arrival_is_seen = false;
  sleep();
  EXPECT_EQ(loop.over(call).timeouts, 1);
}

TEST_F(idle_loop_of_a_rank, sleeps_in_large_transfers_between_nodes_at_once) {
  process.bells = node_bells::join(a_name(), 0, 1);
  process.bells->will_ring();
  process.facts.every_arrival_is_seen = false;
  call.size = 262'144;
  idle(first_beats);
  EXPECT_TRUE(is_announced());
  loop.over(call);
}

TEST_F(idle_loop_of_a_rank, naps_once_calls_have_ended_unseen) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(process.sees_every_arrival());
    idle(first_beats);
    loop.over(call);
    call.beats = 0;
  }
  EXPECT_FALSE(process.sees_every_arrival());
}

TEST_F(idle_loop_of_a_rank, needs_no_naps_where_rings_end_calls) {
  for (int i = 0; i < 10; ++i) {
    sleep_until_rung();
    loop.over(call);
    call.beats = 0;
  }
  EXPECT_TRUE(process.sees_every_arrival());
}

TEST_F(idle_loop_of_a_rank, naps_in_a_loop_of_the_program) {
  call.own_loop = true;
  sleep();
  const wait::wait_counts counts = loop.over(call, false);
  EXPECT_EQ(counts.timeouts, 1);
  EXPECT_FALSE(is_announced());
}

TEST_F(idle_loop_of_a_rank, withdraws_its_announcement_if_the_thread_ends) {
  {
    idle_loop of_a_thread{process};
    for (call.beats = 1; call.beats <= first_beats; ++call.beats) of_a_thread.beat(call, turn::idle);
    EXPECT_TRUE(is_announced());
  }
  EXPECT_FALSE(is_announced());
}

}  // namespace
}  // namespace lull::mpi
