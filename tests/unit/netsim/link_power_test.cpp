// What a link saves in pauses of every length, compared with its states simulated one after another; how long a packet
// waits for it; and that a learnt hold keeps its bound.
#include "netsim/power/link_power.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "netsim/simulation.hpp"

namespace lull::netsim {
namespace {

// Links with the time that they have rested.
class watched_links {
 public:
  watched_links(const link_policy& given, std::size_t links) : power_(given, links), rests_(links) {}
  link_power::start wake(std::size_t link, picoseconds idle_since, picoseconds now, std::int64_t waiting) {
    return power_.wake(rests_[link], link, idle_since, now, waiting);
  }
  void close(std::size_t link, picoseconds idle_since, picoseconds end) {
    power_.close(rests_[link], link, idle_since, end);
  }
  [[nodiscard]] const std::vector<link_rest>& rests() const { return rests_; }
  [[nodiscard]] picoseconds slowed(std::size_t link, picoseconds time) { return power_.slowed(link, time); }
  [[nodiscard]] bool on() const { return power_.on(); }

 private:
  link_power power_;
  std::vector<link_rest> rests_;
};

constexpr picoseconds hold = 700, fast_for = 500, sleep_time = 110, quiet_time = 1000, refresh_time = 90;

link_policy short_times(const char* mode, picoseconds held) {
  return policy_of({mode,
                    {{"hold", held},
                     {"hybrid_hold", fast_for},
                     {"sleep_time", sleep_time},
                     {"quiet_time", quiet_time},
                     {"refresh_time", refresh_time},
                     {"wake_deep", 550},
                     {"wake_fast", 34}}});
}

struct spent {
  picoseconds deep = 0, fast = 0, wake = 0;
};

// The states of a pause one after another, in the order of IEEE 802.3.
spent walked(std::string_view mode, picoseconds held, picoseconds gap) {
  spent s;
  picoseconds left = gap - held;
  if (left <= 0) return s;
  if (mode == "fast-wake") return {0, left, 34};
  if (mode == "hybrid") {
    s.fast = std::min(left, fast_for);
    left -= fast_for;
    s.wake = 34;
    if (left <= 0) return s;
  }
  s.wake = 550;
  left -= sleep_time;
  while (left > 0) {
    s.deep += std::min(left, quiet_time);
    left -= quiet_time + refresh_time;
  }
  return s;
}

// Each boundary between states, and every length up to some refresh cycles.
std::vector<picoseconds> pauses_to_try() {
  std::vector<picoseconds> all;
  for (picoseconds gap = 0; gap < 6000; ++gap) all.push_back(gap);
  for (picoseconds cycles = 100; cycles < 100'000; cycles *= 10)
    for (const picoseconds offset : {0, -1, 1, 89, 90, 91, 999, 1000, 1001})
      all.push_back(hold + fast_for + sleep_time + cycles * (quiet_time + refresh_time) + offset);
  return all;
}

class every_mode : public testing::TestWithParam<std::tuple<const char*, picoseconds>> {
 protected:
  link_policy given = short_times(std::get<0>(GetParam()), std::get<1>(GetParam()));
  [[nodiscard]] static spent expected(picoseconds gap) {
    return walked(std::get<0>(GetParam()), std::get<1>(GetParam()), gap);
  }
};

TEST_P(every_mode, spends_a_pause_in_its_states_and_delays_the_packet_that_ends_it) {
  for (const picoseconds gap : pauses_to_try()) {
    watched_links links(given, 3);
    const picoseconds since = 123'456;
    const auto woken = links.wake(1, since, since + gap, 0);
    const spent want = expected(gap);
    ASSERT_EQ(woken.at, since + gap + want.wake) << gap;
    ASSERT_FALSE(woken.slow);
    ASSERT_EQ(links.rests()[1].deep, want.deep) << gap;
    ASSERT_EQ(links.rests()[1].other, want.fast) << gap;
    ASSERT_EQ(links.rests()[1].wakes, want.wake > 0 ? 1U : 0U) << gap;
    ASSERT_EQ(links.rests()[0].deep + links.rests()[2].deep, 0);
  }
}

TEST_P(every_mode, counts_the_pause_that_lasts_at_the_end_but_no_wake_up) {
  for (const picoseconds gap : pauses_to_try()) {
    watched_links links(given, 1);
    links.close(0, 1000, 1000 + gap);
    const spent want = expected(gap);
    ASSERT_EQ(links.rests()[0].deep, want.deep) << gap;
    ASSERT_EQ(links.rests()[0].other, want.fast) << gap;
    ASSERT_EQ(links.rests()[0].wakes, 0U);
  }
  watched_links busy(given, 1);
  busy.close(0, 2000, 1000);  // it was still sending when the run ended
  EXPECT_EQ(busy.rests()[0].deep + busy.rests()[0].other, 0);
}

TEST_P(every_mode, adds_pause_to_pause) {
  generator random(5);
  watched_links links(given, 1);
  spent sum;
  picoseconds now = 0;
  std::uint64_t wakes = 0;
  for (int i = 0; i < 1000; ++i) {
    const picoseconds gap = random.below(8000);
    const spent s = expected(gap);
    const auto woken = links.wake(0, now, now + gap, 0);
    sum.deep += s.deep;
    sum.fast += s.fast;
    wakes += s.wake > 0 ? 1 : 0;
    now = woken.at + 77;
  }
  EXPECT_EQ(links.rests()[0].deep, sum.deep);
  EXPECT_EQ(links.rests()[0].other, sum.fast);
  EXPECT_EQ(links.rests()[0].wakes, wakes);
}

TEST_P(every_mode, lets_no_packet_wait_when_only_power_is_accounted_for) {
  given.wake_delays = false;
  watched_links links(given, 1);
  EXPECT_EQ(links.wake(0, 0, 5000, 0).at, 5000);
  EXPECT_EQ(links.rests()[0].deep, expected(5000).deep);
  EXPECT_EQ(links.rests()[0].other, expected(5000).fast);
  EXPECT_EQ(links.rests()[0].wakes, 1U);
}

INSTANTIATE_TEST_SUITE_P(link_power, every_mode,
                         testing::Combine(testing::Values("deep-sleep", "fast-wake", "hybrid"),
                                          testing::Values(picoseconds{0}, hold)));

// A random sequence of pauses of a link with a learnt hold.
struct outcome {
  picoseconds time = 0, delay = 0, saved = 0;
};
outcome learn_from(const char* mode, double bound, picoseconds mean_gap, bool mixed_lengths, std::uint64_t seed) {
  watched_links links(policy_of({mode, {{"bound", bound}, {"hybrid_hold", 2'000'000}}}), 1);
  generator random(seed);
  outcome o;
  picoseconds idle_since = 0;
  for (int i = 0; i < 20'000; ++i) {
    const double mean =
        mixed_lengths && random.below(10) != 0 ? static_cast<double>(mean_gap) / 100 : static_cast<double>(mean_gap);
    const auto gap = static_cast<picoseconds>(-std::log(random.uniform()) * mean);
    const auto woken = links.wake(0, idle_since, idle_since + gap, 0);
    o.delay += woken.at - idle_since - gap;
    idle_since = woken.at + 327'680;
  }
  o.time = idle_since;
  o.saved = links.rests()[0].deep + links.rests()[0].other;
  return o;
}

TEST(learnt_hold, keeps_the_delay_within_its_bound_whatever_the_pauses) {
  std::uint64_t seed = 1;
  for (const std::string mode : {"deep-sleep", "fast-wake", "hybrid"})
    for (const double bound : {0.001, 0.01, 0.05})
      for (const picoseconds mean :
           {picoseconds{300'000}, picoseconds{5'000'000}, picoseconds{80'000'000}, picoseconds{2'000'000'000}})
        for (const bool mixed_lengths : {false, true}) {
          const outcome o = learn_from(mode.c_str(), bound, mean, mixed_lengths, seed++);
          const auto one_wake_up = static_cast<double>(mode == "fast-wake" ? 340'000 : 5'500'000);
          EXPECT_LE(static_cast<double>(o.delay), one_wake_up + bound * static_cast<double>(o.time))
              << "mode " << mode << " bound " << bound << " mean pause " << mean << " mixed " << mixed_lengths;
        }
}

TEST(learnt_hold, sleeps_in_nearly_all_of_the_time_when_pauses_are_long) {
  const outcome o = learn_from("deep-sleep", 0.01, 2'000'000'000, false, 1);
  EXPECT_GT(static_cast<double>(o.saved), 0.97 * static_cast<double>(o.time));
}

TEST(learnt_hold, sleeps_in_the_long_pauses_only_when_most_are_short) {
  // Nine of ten pauses last 1 us, the tenth 100 us: sleeping in those costs 5.5 of some 110 us.
  const outcome o = learn_from("deep-sleep", 0.05, 100'000'000, true, 1);
  EXPECT_GT(static_cast<double>(o.saved), 0.7 * static_cast<double>(o.time));
}

TEST(learnt_hold, never_sleeps_when_the_bound_forbids_a_single_wake_up) {
  const outcome o = learn_from("deep-sleep", 1e-9, 5'000'000, false, 1);
  EXPECT_EQ(o.delay, 0);
}

link_policy adaptive() {
  return policy_of(
      {"adaptive-rate", {{"hold", 1000}, {"slow_rate", 0.25}, {"rate_change", 500}, {"raise_backlog", 8192}}});
}

TEST(adaptive_rate, falls_after_the_hold_and_rises_when_enough_waits) {
  watched_links links(adaptive(), 1);
  EXPECT_FALSE(links.wake(0, 0, 1000, 0).slow);  // within the hold
  const auto slow = links.wake(0, 2000, 3001, 8191);
  EXPECT_TRUE(slow.slow);
  EXPECT_EQ(slow.at, 3001);
  EXPECT_EQ(links.slowed(0, 100), 400);
  EXPECT_TRUE(links.wake(0, 3500, 3500, 0).slow);  // it does not rise by itself
  const auto raised = links.wake(0, 4000, 4000, 8192);
  EXPECT_FALSE(raised.slow);
  EXPECT_EQ(raised.at, 4500);
  EXPECT_EQ(links.rests()[0].other, 4000 - (2000 + 1000));
  EXPECT_EQ(links.rests()[0].wakes, 1U);
  EXPECT_FALSE(links.wake(0, 5000, 5500, 0).slow);
}

TEST(adaptive_rate, counts_the_slow_time_that_lasts_at_the_end) {
  watched_links fallen(adaptive(), 1);
  EXPECT_TRUE(fallen.wake(0, 0, 5000, 0).slow);
  fallen.close(0, 9000, 20'000);
  EXPECT_EQ(fallen.rests()[0].other, 20'000 - 1000);

  watched_links falling(adaptive(), 1);
  falling.close(0, 9000, 10'000);
  EXPECT_EQ(falling.rests()[0].other, 0);
  falling.close(0, 9000, 10'001);
  EXPECT_EQ(falling.rests()[0].other, 1);
}

TEST(adaptive_rate, raises_without_delay_when_only_power_is_accounted_for) {
  link_policy p = adaptive();
  p.wake_delays = false;
  watched_links links(p, 1);
  EXPECT_EQ(links.wake(0, 0, 5000, 8192).at, 5000);
}

TEST(links_always_active, keep_no_account) {
  watched_links links({}, 5);
  EXPECT_FALSE(links.on());
  links.close(0, 0, 1000);
  EXPECT_EQ(links.rests()[0].deep + links.rests()[0].other, 0);
  EXPECT_EQ(links.rests()[0].wakes, 0U);
}

}  // namespace
}  // namespace lull::netsim
