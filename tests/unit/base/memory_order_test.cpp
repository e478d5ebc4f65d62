// Litmus tests of the orders on which sleepers and those that wake them depend: each of two threads stores to one word and
// then loads that of the other. Without a fence between store and load, both may load the old value (store buffering).
//
// Two threads go through the same row of cells. Without the fence, two cores of x86-64 find nothing in some hundred of
// 100,000 cells; with it, no machine may find such a cell. Busy cores find fewer, never more.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace lull {
namespace {

constexpr int cells = 1'000, turns = 100;
constexpr int longest_wait = 200;  // in looks, for the other thread at each cell: it may have no core

struct cell {
  alignas(64) std::atomic<int> first = 0;  // the last turn in which the first thread stored to it
  alignas(64) std::atomic<int> second = 0;
  alignas(64) int found_by_first = 0;
  alignas(64) int found_by_second = 0;
};

// Waits until the other thread is at the same place, or for some time, then a varying moment: a thread that waits
// continues later than the one that arrives.
void come_to(int place, std::atomic<int>& mine, const std::atomic<int>& others, int delay) {
  mine.store(place, std::memory_order_release);
  for (int look = 0; look < longest_wait && others.load(std::memory_order_acquire) < place; ++look) {
  }
  for (int i = 0; i < delay; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);  // keeps the loop
}

// Runs both on all cells at the same time. Returns the number of cells in which neither thread found the other's store.
template <class First, class Second>
int neither_found(First first, Second second) {
  int neither = 0;
  std::vector<cell> row(cells);
  std::atomic<int> at_first = 0, at_second = 0;
  for (int turn = 1; turn <= turns; ++turn) {
    std::thread other([&, place = turn * cells]() mutable {
      for (cell& one : row) {
        come_to(place++, at_second, at_first, 0);
        one.found_by_second = second(one.second, one.first, turn);
      }
    });
    int place = turn * cells;
    for (cell& one : row) {
      come_to(place, at_first, at_second, place % 61);
      one.found_by_first = first(one.first, one.second, turn);
      ++place;
    }
    other.join();
    for (const cell& one : row) neither += one.found_by_first != turn && one.found_by_second != turn ? 1 : 0;
  }
  return neither;
}

int store_fence_load(std::atomic<int>& mine, const std::atomic<int>& other, int turn) {
  mine.store(turn, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return other.load(std::memory_order_relaxed);
}

// As a doorbell's ring after an atomic operation (wait/doorbell.hpp).
int change_load(std::atomic<int>& mine, const std::atomic<int>& other, int turn) {
  mine.fetch_add(turn - mine.load(std::memory_order_relaxed));
#if !defined(__x86_64__)
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  return other.load(std::memory_order_relaxed);
}

TEST(memory_order, a_store_is_seen_before_a_load_behind_a_fence) {
  EXPECT_EQ(neither_found(store_fence_load, store_fence_load), 0);
}

TEST(memory_order, an_atomic_change_is_seen_before_a_load) {
  EXPECT_EQ(neither_found(change_load, change_load), 0);
  EXPECT_EQ(neither_found(change_load, store_fence_load), 0);
}

// The release of a lock of the aggregator (aggregate/threads/policy_lock.hpp).
TEST(memory_order, an_exchange_is_seen_before_a_sequentially_consistent_load) {
  const auto exchange_load = [](std::atomic<int>& mine, const std::atomic<int>& other, int turn) {
    mine.exchange(turn, std::memory_order_seq_cst);
    return other.load(std::memory_order_seq_cst);
  };
  EXPECT_EQ(neither_found(exchange_load, exchange_load), 0);
}

// A release store publishes what precedes it: a buffer, a counter's reset.
TEST(memory_order, what_a_store_publishes_is_there_for_those_that_acquire_it) {
  constexpr int numbers = 200'000;
  std::array<int, numbers> published{};
  std::atomic<int> count = 0;
  int wrong = 0;
  std::thread reader([&] {
    for (int seen = 0; seen < numbers; std::this_thread::yield())
      for (const int now = count.load(std::memory_order_acquire); seen < now; ++seen)
        wrong += published[static_cast<std::size_t>(seen)] == seen + 1 ? 0 : 1;
  });
  for (int i = 0; i < numbers; ++i) {
    published[static_cast<std::size_t>(i)] = i + 1;
    count.store(i + 1, std::memory_order_release);
  }
  reader.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace lull
