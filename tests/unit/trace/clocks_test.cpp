#include "trace/archive/clocks.hpp"

#include <gmock/gmock.h>

#include "recorded.hpp"
#include "surroundings.hpp"
#include "trace/archive/crossings.hpp"
#include "trace/archive/replay.hpp"

namespace lull::trace {
namespace {

// Two hosts with different clocks, and a ping-pong of `rounds` rounds between them, 5 µs in each direction.
struct two_hosts {
  explicit two_hosts(std::int64_t ahead_ns, int rounds = 100, double drift = 0) {
    recorded_process a{.rank = 0}, b{.rank = 1, .host = "h2", .boot = "b2", .clock_ns = ahead_ns};
    a.end = b.end = 200'000'000;
    const auto of_b = [&](std::uint64_t t) { return t + static_cast<std::uint64_t>(drift * static_cast<double>(t)); };
    for (int i = 0; i < rounds; ++i) {
      const std::uint64_t t = 10'000 + static_cast<std::uint64_t>(i) * 1'000'000;
      a.threads[0].push_back(call_of(kind::send, send_f, t, t + 1000, 1, 8));
      b.threads[0].push_back(call_of(kind::receive, receive_f, of_b(t + 1000), of_b(t + 5000), 0, 8));
      b.threads[0].push_back(call_of(kind::send, send_f, of_b(t + 6000), of_b(t + 7000), 0, 8));
      a.threads[0].push_back(call_of(kind::receive, receive_f, t + 2000, t + 11'000, 1, 8));
    }
    a.leave_in(folder.path());
    b.leave_in(folder.path());
    raw = read_raw_folder(folder.path());
    all = join(raw);
    for (const auto& p : all.processes) raws.push_back(p.raw);
  }
  static std::int64_t early(const std::vector<crossing>& all) {
    return std::ranges::count_if(all, [](const crossing& m) { return m.received_ns < m.sent_ns; });
  }

  const temporary_folder folder;
  std::vector<raw_process> raw;
  joined all;
  std::vector<const raw_process*> raws;
};

TEST(joined_clocks, one_boot_is_one_clock) {
  const raw_process a{.host = "x", .boot = "b", .clocks = {{0, 0, 1000}, {100, 200, 1200}}};
  const raw_process b{.host = "y", .boot = "b", .clocks = {{1000, 2000, 3000}}};
  const std::array<const raw_process*, 2> both{&a, &b};
  const joined_clocks clocks(both);
  EXPECT_EQ(clocks.clocks(), 1U);
  EXPECT_EQ(clocks.ns(clocks.clock_of(1), 500), 2000);  // two nanoseconds per tick
  EXPECT_EQ(clocks.ns_of_monotonic(0, 50), 1050);
}

TEST(joined_clocks, messages_both_ways_tell_how_far_clocks_differ) {
  for (const std::int64_t ahead : {-5'000'000L, 3'000'000L}) {
    const two_hosts of(ahead);
    joined_clocks clocks(of.raws);
    const auto before = find_crossings(of.all, clocks);
    EXPECT_EQ(before.size(), 200U);
    EXPECT_GT(two_hosts::early(before), 0);
    clocks.correct(before);
    const auto after = find_crossings(of.all, clocks);
    EXPECT_EQ(two_hosts::early(after), 0);
    for (const crossing& m : after) EXPECT_NEAR(static_cast<double>(m.received_ns - m.sent_ns), 5000, 100);
  }
}

TEST(joined_clocks, a_clock_that_drifts_is_followed) {
  const two_hosts of(1'000'000, 150, 50e-6);
  joined_clocks clocks(of.raws);
  clocks.correct(find_crossings(of.all, clocks));
  EXPECT_EQ(two_hosts::early(find_crossings(of.all, clocks)), 0);
}

TEST(joined_clocks, of_a_long_stream_of_messages_a_part_is_kept) {
  const two_hosts of(0, 10'000);
  const joined_clocks clocks(of.raws);
  const auto found = find_crossings(of.all, clocks);
  EXPECT_LT(found.size(), 1000U);
  EXPECT_GT(found.back().sent_ns - found.front().sent_ns, 9'000'000'000);
}

}  // namespace
}  // namespace lull::trace
