#include "base/futex.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <climits>
#include <new>
#include <thread>

namespace lull {
namespace {

constexpr std::int64_t a_minute_ns = 60'000'000'000;

TEST(futex, does_not_sleep_on_a_word_that_has_changed) {
  const std::atomic<std::uint32_t> word = 2;
  EXPECT_TRUE(futex_wait(word, 1, a_minute_ns, futex_users::one_process));
}

TEST(futex, says_when_the_time_has_passed) {
  const std::atomic<std::uint32_t> word = 1;
  const std::int64_t begin = now_ns();
  // A signal may end a sleep, which is no time-out.
  while (futex_wait(word, 1, 2'000'000, futex_users::one_process)) {
  }
  EXPECT_GE(now_ns() - begin, 2'000'000);
}

TEST(futex, wakes_a_thread_that_sleeps) {
  std::atomic<std::uint32_t> word = 0;
  std::thread sleeper([&] {
    while (word.load() == 0) EXPECT_TRUE(futex_wait(word, 0, a_minute_ns, futex_users::one_process));
  });
  word.store(1);
  futex_wake(word, 1, futex_users::one_process);
  sleeper.join();
}

TEST(futex, wakes_a_process_that_sleeps_on_shared_memory) {
  void* const shared = mmap(nullptr, sizeof(std::uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& word = *new (shared) std::atomic<std::uint32_t>(0);
  const pid_t child = fork();
  if (child == 0) {
    bool woken = true;
    while (word.load() == 0) woken = futex_wait(word, 0, a_minute_ns, futex_users::several_processes) && woken;
    _exit(woken ? 0 : 1);
  }
  word.store(1);
  futex_wake(word, INT_MAX, futex_users::several_processes);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  munmap(shared, sizeof(std::uint32_t));
}

}  // namespace
}  // namespace lull
