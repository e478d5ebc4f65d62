#include "wait/waiting.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace lull::wait {
namespace {

// A transport of one mailbox: a message sets one thread's `ready` once some thread makes progress. Like the progress
// thread, it lets one thread sleep on it.
class mailbox final : public progress_source {
 public:
  void begin() override { driving.fetch_add(1); }
  bool progress() override {
    const std::lock_guard hold(lock_);
    const int handled = arrived_.exchange(0);
    seen += handled;
    return handled != 0;
  }
  void end() override { driving.fetch_sub(1); }
  void hand_over() override { driving.fetch_sub(1); }
  announcement announce_sleep() override {
    int nobody = 0;
    if (!sleeper.compare_exchange_strong(nobody, 1)) return announcement::taken;
    if (arrived_ == 0) return announcement::announced;
    sleeper = 0;
    return announcement::busy;
  }
  wake sleep(std::int64_t timeout_ns) override {
    const wake result = bell_.sleep([&] { return arrived_ != 0; }, timeout_ns);
    ++slept_here;
    sleeper = 0;
    return result;
  }
  void retract_sleep() override { sleeper = 0; }
  void serve_at_full(std::shared_ptr<core_frequency>) override {}
  [[nodiscard]] std::int64_t serving_cpu_ns() const override { return 0; }

  void send() {
    arrived_.fetch_add(1);
    bell_.ring();
  }
  std::atomic<int> driving{0}, sleeper{0}, seen{0}, slept_here{0};

 private:
  std::mutex lock_;
  std::atomic<int> arrived_{0};
  doorbell bell_{};
};

class waiting_under : public testing::TestWithParam<const char*> {
 protected:
  waiting_under() { setenv("LULL_WAIT", GetParam(), 1); }
  ~waiting_under() override { unsetenv("LULL_WAIT"); }
  doorbell bell{};
  mailbox transport;
};

void nap(int us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }

TEST_P(waiting_under, a_store_of_another_pe_ends_the_wait) {
  waiting w(bell, nullptr, {});
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> there{false};
    std::thread other([&] {
      nap(500);
      there.store(true, std::memory_order_release);
      bell.ring();
    });
    w.until({operation::wait_until}, [&] { return there.load(std::memory_order_acquire); });
    other.join();
  }
  EXPECT_LE(w.statistics().waits, 20U);  // on a busy machine a store may be there before the wait begins
  EXPECT_GT(w.statistics().waits, 0U);
  EXPECT_EQ(w.statistics().missed, 0U);
}

TEST_P(waiting_under, a_message_ends_the_wait_and_nobody_drives_afterwards) {
  waiting w(bell, &transport, {});
  for (int round = 1; round <= 20; ++round) {
    std::thread other([&] {
      nap(700);
      transport.send();
    });
    w.until({operation::get, 65536, 1, {}, true}, [&] { return transport.seen == round; });
    other.join();
    EXPECT_EQ(transport.driving, 0);
    EXPECT_EQ(transport.sleeper, 0);
  }
  EXPECT_EQ(w.statistics().timeouts, 0U);
  if (std::string(GetParam()).starts_with("poll"))
    EXPECT_EQ(w.statistics().sleeps, 0U);
  else
    EXPECT_GT(transport.slept_here, 0);
}

INSTANTIATE_TEST_SUITE_P(every_policy, waiting_under,
                         testing::Values("poll", "interrupt", "poll+dvfs", "interrupt+dvfs", "adaptive"),
                         [](const auto& policy) {
                           std::string name = policy.param;
                           std::ranges::replace(name, '+', '_');
                           return name;
                         });

TEST(waiting, a_context_may_wait_its_own_way) {
  doorbell bell{};
  waiting w(bell, nullptr, {});
  std::atomic<bool> there{false};
  std::thread other([&] {
    nap(2000);
    there = true;
  });
  w.until({operation::put, 8, 1, wait_policy::poll}, [&] { return there.load(); });
  other.join();
  EXPECT_EQ(w.statistics().sleeps, 0U);
}

TEST(waiting, adaptive_learns_and_then_is_awake_before_the_end) {
  setenv("LULL_WAIT", "adaptive", 1);
  doorbell bell{};
  waiting w(bell, nullptr, {});
  unsetenv("LULL_WAIT");
  for (int round = 0; round < 20; ++round) {
    const std::int64_t end = now_ns() + 5'000'000;
    w.until({operation::put, 262144, 1}, [&] { return now_ns() >= end; });
  }
  const wait_counts counts = w.statistics();
  // No thread rings here: only the wait's own timers can have ended the sleeps of the later rounds so soon.
  EXPECT_LT(counts.timeouts, 10U);
  EXPECT_GT(counts.ns_asleep, counts.ns_waited / 3);
  int slack_ns = 0;  // of a thread started later
  std::thread([&] {
    const std::int64_t end = now_ns() + 5'000'000;
    w.until({operation::put, 262144, 1}, [&] { return now_ns() >= end; });
    slack_ns = prctl(PR_GET_TIMERSLACK);
  }).join();
  EXPECT_EQ(slack_ns, 1);
}

// As many threads as SHMEM_THREAD_MULTIPLE allows wait for messages at once: one sleeps on the transport, the others on
// the doorbell, and the thread that handles a message wakes them.
TEST(waiting, several_threads_wait_at_once) {
  doorbell bell{};
  mailbox transport;
  waiting w(bell, &transport, {});
  constexpr int threads = 4, rounds = 200;
  std::atomic<int> done{0};
  std::vector<std::thread> waiters;
  std::vector<std::atomic<int>> wanted(threads);
  for (int t = 0; t < threads; ++t)
    waiters.emplace_back([&, t] {
      auto& mine = wanted[static_cast<std::size_t>(t)];
      for (int round = 1; round <= rounds; ++round)
        w.until({operation::wait_until}, [&] { return mine.load(std::memory_order_acquire) >= round; });
      ++done;
    });
  for (int round = 0; round < rounds; ++round)
    for (auto& mine : wanted) {
      mine.fetch_add(1, std::memory_order_release);
      bell.ring();
    }
  for (auto& t : waiters) t.join();
  EXPECT_EQ(done, threads);
  EXPECT_EQ(w.statistics().missed, 0U);
  EXPECT_EQ(transport.driving, 0);
}

}  // namespace
}  // namespace lull::wait
