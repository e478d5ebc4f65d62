// The event queue compared with a reference that keeps everything in one sorted container: every scheduled event comes
// exactly once, in the specified order, near or far, dense or sparse, including beyond the end of the ring of windows.
#include "netsim/network/windows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace lull::netsim {
namespace {

constexpr std::int64_t ring = 512;  // near windows, including the open one

// A queue and its reference with the same input.
class twins {
 public:
  twins(std::uint32_t lps, unsigned bits) : bits_(bits), queue(lps, bits) {}

  void schedule(picoseconds at, std::uint32_t lp, bool arrival) {
    const auto number = static_cast<std::uint32_t>(scheduled++);
    // Numbers that are out of order, so that the order of scheduling is another.
    const std::uint32_t a = mixed(number);
    const std::int64_t ahead = (at >> bits_) - current_;
    if (arrival)
      queue.schedule<windows::packets>(at, lp, number % 4, a, number);
    else
      queue.schedule<windows::timers>(at, lp, number % 4, a, number);
    if (ahead == 0)
      inside_.emplace(at, number % 4, a, number);
    else
      pending_.emplace(at >> bits_, lp, arrival ? 0 : 1, at, number % 4, a, number);
  }

  // Opens the next window in both and compares them. False if both are empty.
  bool open() {
    const bool opened = queue.open();
    EXPECT_EQ(opened, !pending_.empty());
    if (!opened || pending_.empty()) return false;
    current_ = std::get<0>(*pending_.begin());
    EXPECT_EQ(queue.begin(), current_ << bits_);
    compare();
    return true;
  }

  // The content of the open window by logical process and kind; removes it from the reference.
  void compare() {
    std::size_t count = 0;
    for (std::size_t n = 0; n < queue.lps(); ++n) {
      for (const windows::kind k : {windows::packets, windows::timers}) {
        for (const event& e : queue.events(k, n)) {
          ++count;
          ASSERT_FALSE(pending_.empty());
          const auto [window, lp, kind, at, what, a, number] = *pending_.begin();
          pending_.erase(pending_.begin());
          ASSERT_EQ(window, current_);
          ASSERT_EQ(queue.lp(n), lp);
          ASSERT_EQ(static_cast<int>(k), kind);
          ASSERT_EQ(queue.time_of(e), at);
          ASSERT_EQ(std::tuple(windows::what(e), e.lp, e.a, e.b), std::tuple(what, lp, a, number));
        }
      }
    }
    EXPECT_EQ(queue.count(), count);
    EXPECT_TRUE(pending_.empty() || std::get<0>(*pending_.begin()) > current_) << "an event of this window is missing";
    handled += count;
  }

  // Takes what was scheduled in the open window before `when`.
  void take_before(picoseconds when) {
    event e{};
    while (queue.sooner(static_cast<std::uint32_t>(when - queue.begin()) << 2U, e)) {
      EXPECT_LT(queue.time_of(e), when);
      expect_next_inside(e);
    }
    EXPECT_TRUE(inside_.empty() || std::get<0>(*inside_.begin()) >= when) << "one that was due did not come";
  }
  void take_all() {
    event e{};
    while (queue.take(e)) expect_next_inside(e);
    EXPECT_TRUE(inside_.empty());
  }

 private:
  void expect_next_inside(const event& e) {
    ASSERT_FALSE(inside_.empty());
    EXPECT_EQ(*inside_.begin(), std::tuple(queue.time_of(e), windows::what(e), e.a, e.b));
    inside_.erase(inside_.begin());
    ++handled;
  }

  unsigned bits_;
  std::int64_t current_ = -1;
  // window, logical process, arrivals before timers, time, bits of the caller, a, number
  std::set<std::tuple<std::int64_t, std::uint32_t, int, picoseconds, unsigned, std::uint32_t, std::uint32_t>> pending_;
  std::set<std::tuple<picoseconds, unsigned, std::uint32_t, std::uint32_t>> inside_;

 public:
  windows queue;
  std::uint64_t scheduled = 0;
  std::uint64_t handled = 0;
};

struct load {
  std::uint32_t lps;
  unsigned bits;
  std::uint64_t events;
  unsigned at_first;
  std::int64_t furthest;  // windows ahead, most often
};

// How far ahead an event is: mostly near, sometimes around the end of the ring, sometimes very far.
picoseconds some_time_later(generator& random, const load& l, picoseconds begin, picoseconds length) {
  std::int64_t ahead = 1 + random.below(static_cast<std::uint32_t>(l.furthest));
  if (random.below(16) == 0) ahead = ring - 2 + random.below(5);
  if (random.below(64) == 0) ahead = 1 + random.below(20 * ring);
  return begin + ahead * length + random.below(static_cast<std::uint32_t>(length));
}

void run_at_random(const load& l, std::uint64_t seed) {
  generator random(seed);
  twins both(l.lps, l.bits);
  const picoseconds length = both.queue.length();
  for (unsigned i = 0; i < l.at_first; ++i)
    both.schedule(random.below(static_cast<std::uint32_t>(length)) + random.below(1000) * length, random.below(l.lps),
                  random.below(2) == 0);
  while (both.open() && !testing::Test::HasFailure()) {
    for (std::size_t n = 0; n < both.queue.lps(); ++n) {
      const std::uint32_t here = both.queue.lp(n);
      for (const event& e : both.queue.events(windows::packets, n)) {
        const picoseconds now = both.queue.time_of(e);
        both.take_before(now);
        for (unsigned more = random.below(3); more > 0 && both.scheduled < l.events; --more)
          both.schedule(some_time_later(random, l, both.queue.begin(), length), random.below(l.lps),
                        random.below(2) == 0);
        const picoseconds left = both.queue.begin() + length - now;
        if (random.below(3) == 0 && both.scheduled < l.events)
          both.schedule(now + random.below(static_cast<std::uint32_t>(left)), here, false);
      }
      both.take_all();
      for ([[maybe_unused]] const event& e : both.queue.events(windows::timers, n))
        if (both.scheduled < l.events)
          both.schedule(some_time_later(random, l, both.queue.begin(), length), random.below(l.lps), true);
    }
  }
  EXPECT_EQ(both.handled, both.scheduled);
  EXPECT_FALSE(both.queue.open());
}

TEST(windows, give_back_every_event_once_and_in_order_when_they_are_dense) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) run_at_random({3, 10, 60'000, 3000, 4}, seed);
  run_at_random({1, 17, 60'000, 5000, 2}, 4);  // more at one logical process than are sorted by insertion
}

TEST(windows, give_back_every_event_once_and_in_order_when_they_are_sparse) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) run_at_random({2000, 17, 30'000, 2, 3 * ring}, seed);
}

TEST(windows, give_back_every_event_once_and_in_order_whatever_their_length_and_number_of_places) {
  std::uint64_t seed = 10;
  for (const unsigned bits : {1U, 5U, 10U, 13U, windows::most_bits})
    for (const std::uint32_t lps : {1U, 63U, 64U, 65U, 700U}) run_at_random({lps, bits, 10'000, 100, 600}, seed++);
}

TEST(windows, put_many_events_in_order_that_crowd_in_a_part_of_a_window) {
  twins both(2, 17);
  generator random(1);
  for (unsigned i = 0; i < 5000; ++i) both.schedule(both.queue.length() + 40'000 + random.below(3), 1, i % 2 == 0);
  ASSERT_TRUE(both.open());
  EXPECT_EQ(both.handled, 5000U);
}

TEST(windows, come_in_turn_far_beyond_the_ring) {
  twins both(10, 12);
  const picoseconds length = both.queue.length();
  for (const std::int64_t window :
       {std::int64_t{0}, ring - 2, ring - 1, ring, ring + 1, 2 * ring - 1, 2 * ring, 5 * ring + 3, 1'000'000 * ring})
    for (const std::uint32_t lp : {9U, 0U}) both.schedule(window * length + length - 1, lp, lp == 0);
  unsigned opened = 0;
  while (both.open()) ++opened;
  EXPECT_EQ(opened, 9U);
}

// Otherwise the order would depend on when other logical processes schedule, and on how many share a queue.
TEST(windows, order_events_of_one_time_by_what_they_are_and_not_by_when_they_were_scheduled) {
  for (const std::uint32_t count : {2U, 5U, 20U, 100U, 3000U}) {
    windows queue(2, 17);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t a = mixed(i);
      queue.schedule<windows::packets>(queue.length() + 77, 1, 0, a, i);
      queue.schedule<windows::timers>(queue.length() + 77, 1, a % 2, a, i);
    }
    ASSERT_TRUE(queue.open());
    const auto rank = [](const event& e) { return std::pair(windows::what(e), e.a); };
    for (const windows::kind k : {windows::packets, windows::timers}) {
      ASSERT_EQ(queue.events(k, 0).size(), count);
      EXPECT_TRUE(std::ranges::is_sorted(queue.events(k, 0), {}, rank)) << count;
    }
  }
}

TEST(windows, put_a_far_event_among_near_ones_of_its_place_and_time) {
  windows queue(1, 10);
  const picoseconds late = 600 * queue.length() + 7;
  queue.schedule<windows::packets>(late, 0, 0, 5, 0);                  // far now
  queue.schedule<windows::packets>(300 * queue.length(), 0, 0, 0, 1);  // seen from there, the same time is near
  ASSERT_TRUE(queue.open());
  queue.schedule<windows::packets>(late, 0, 0, 9, 2);
  queue.schedule<windows::packets>(late, 0, 0, 3, 3);
  ASSERT_TRUE(queue.open());
  ASSERT_EQ(queue.events(windows::packets, 0).size(), 3U);
  EXPECT_EQ(queue.events(windows::packets, 0)[0].a, 3U);
  EXPECT_EQ(queue.events(windows::packets, 0)[1].a, 5U);
  EXPECT_EQ(queue.events(windows::packets, 0)[2].a, 9U);
}

TEST(windows, forget_what_comes_after_the_end_and_keep_what_comes_at_it) {
  windows queue(4, 10);
  for (const picoseconds at : {5, 100, 101, 1000})
    for (std::uint32_t lp = 0; lp < 4; ++lp) {
      queue.schedule<windows::packets>(at, lp, 0, 0, 0);
      if (lp != 3) queue.schedule<windows::timers>(at + 1, lp, 0, 0, 0);
    }
  queue.schedule<windows::timers>(500, 3, 0, 0, 0);
  ASSERT_TRUE(queue.open());
  queue.cut_off(101);
  ASSERT_EQ(queue.lps(), 4U);
  EXPECT_EQ(queue.events(windows::packets, 0).size(), 3U);
  EXPECT_EQ(queue.events(windows::timers, 0).size(), 2U);
  EXPECT_EQ(queue.events(windows::timers, 3).size(), 0U);
  EXPECT_EQ(queue.count(), 4U * 3 + 3U * 2);
  queue.cut_off(4);
  EXPECT_EQ(queue.lps(), 0U);
}

TEST(windows, are_none_when_nothing_was_scheduled) {
  windows queue(4, 10);
  EXPECT_FALSE(queue.open());
}

}  // namespace
}  // namespace lull::netsim
