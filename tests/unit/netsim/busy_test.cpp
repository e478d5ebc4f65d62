// The transmission time of links, compared with arithmetic.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "netsim/instances.hpp"
#include "netsim/runs.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {
namespace {

constexpr std::int64_t packet = 4096;

// Node 1 sends `messages` messages of one packet each to node 0, so that its link has `load`.
simulation one_way(std::uint64_t messages, double load) {
  const instance on = small_instances().front();
  simulation s;
  s.topology = on.topology;
  s.parameters = on.parameters;
  s.network.packet = packet;
  job& j = s.jobs.emplace_back();
  j.nodes = {0, 1};
  j.pattern = "incast";
  j.arrivals = arrivals::periodic;
  j.load = load;
  j.message = packet;
  j.messages = static_cast<std::int64_t>(messages);
  j.start = 1'000'000;
  return s;
}

// Every link has carried none or all of the packets, and each packet took `each`.
void expect_busy(const simulation& s, std::uint64_t packets, picoseconds each) {
  std::size_t used = 0;
  for (const link_result& l : simulate(s, {}).links) {
    used += l.packets > 0 ? 1 : 0;
    ASSERT_TRUE(l.packets == 0 || l.packets == packets);
    ASSERT_EQ(l.busy, static_cast<picoseconds>(l.packets) * each);
  }
  EXPECT_GE(used, 2U);
}

TEST(busy, is_the_time_of_the_bytes_at_the_rate_of_the_link) {
  simulation s = one_way(100, 0.5);
  s.network.bandwidth = s.network.nic_bandwidth = 8e9;
  expect_busy(s, 100, packet * 125);
}

TEST(busy, of_a_link_at_the_slow_rate_is_longer_by_that) {
  simulation s = one_way(100, 0.01);
  s.network.bandwidth = s.network.nic_bandwidth = 8e9;
  s.power = {"adaptive-rate", {{"hold", 0}, {"slow_rate", 0.25}, {"raise_backlog", 1 << 20}}};  // it never rises
  expect_busy(s, 100, packet * 125 * 4);
  s.power.own["raise_backlog"] = 1;  // it rises for every packet
  expect_busy(s, 100, packet * 125);
}

TEST(busy, may_be_longer_than_17_seconds) {
  simulation s = one_way(5000, 1);
  s.network.bandwidth = s.network.nic_bandwidth = 1e6;  // 4.096 ms per packet, 20.48 s in all; 2^44 ps are 17.6 s
  expect_busy(s, 5000, packet * 1'000'000);
}

TEST(busy, a_packet_that_would_take_longer_than_time_can_count_is_refused) {
  simulation s = one_way(1, 1);
  s.network.bandwidth = 200;
  EXPECT_THROW((void)simulate(s, {}), usage_error);
}

}  // namespace
}  // namespace lull::netsim
