// For any network, routing, power, traffic and buffers: nothing is lost, nothing is duplicated, nothing hangs, and the
// same simulation gives the same result to the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "netsim/random_simulations.hpp"
#include "netsim/runs.hpp"
#include "netsim/simulation.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {
namespace {

std::uint64_t count_of(const std::vector<std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// True for every run, complete or cut off.
void expect_consistency(const simulation& s, const result& r) {
  EXPECT_LE(r.packets, r.packets_injected);
  EXPECT_LE(r.bytes_delivered, r.bytes_injected);
  EXPECT_LE(r.messages_delivered, r.messages_created);
  EXPECT_EQ(count_of(r.hops), r.packets);
  EXPECT_EQ(r.packet_latency.count, r.packets);
  EXPECT_EQ(r.network_latency.count, r.packets);
  EXPECT_EQ(count_of(r.packet_latency.counts), r.packets);
  std::uint64_t messages = 0;
  for (const job_result& j : r.jobs) {
    messages += j.messages;
    EXPECT_EQ(j.message_latency.count, j.messages);
    EXPECT_LE(j.ended, r.ended);
  }
  EXPECT_EQ(messages, r.messages_delivered);
  // A packet that has begun when the run ends is counted completely; it may wait for its link to wake up.
  const auto& n = s.network;
  const link_policy policy = policy_of(s.power);
  const double rate = policy.slow_rate;
  const auto slack =
      static_cast<picoseconds>(static_cast<double>(n.packet) * 1e12 / std::min(n.bandwidth, n.nic_bandwidth) / rate);
  std::uint64_t crossings = 0;
  for (const link_result& l : r.links) {
    crossings += l.packets;
    ASSERT_GE(std::min({l.deep_sleep, l.fast_wake, l.slow, l.busy}), 0);
    ASSERT_LE(l.deep_sleep + l.fast_wake + l.busy, r.ended + slack);
    ASSERT_LE(l.slow, r.ended);
    ASSERT_TRUE(policy.deep_share < 1 || l.deep_sleep == 0);
    ASSERT_TRUE(policy.fast_share < 1 || l.fast_wake == 0);
    ASSERT_TRUE(policy.slow_share < 1 || l.slow == 0);
    ASSERT_TRUE(policy.does != link_policy::behaviour::stays_active || l.wakes == 0);
    ASSERT_LE(l.wakes, l.packets);
  }
  EXPECT_EQ(crossings, r.packet_hops);
}

// Packets and bytes at the sources and at the destinations, link by link.
void expect_everything_delivered(const simulation& s, const result& r) {
  EXPECT_EQ(r.packets, r.packets_injected);
  EXPECT_EQ(r.bytes_delivered, r.bytes_injected);
  EXPECT_EQ(r.messages_delivered, r.messages_created);
  std::map<link_result::link_kind, std::pair<std::uint64_t, std::uint64_t>> by_kind;
  std::map<std::uint32_t, std::uint64_t> sent;  // bytes, by node
  std::map<std::uint32_t, std::uint64_t> received;
  for (const link_result& l : r.links) {
    by_kind[l.kind].first += l.packets;
    by_kind[l.kind].second += l.bytes;
    if (l.kind == link_result::link_kind::injection) sent[l.from] += l.bytes;
    if (l.kind == link_result::link_kind::ejection) received[l.to] += l.bytes;
  }
  EXPECT_EQ(by_kind[link_result::link_kind::injection], std::pair(r.packets, r.bytes_delivered));
  EXPECT_EQ(by_kind[link_result::link_kind::ejection], std::pair(r.packets, r.bytes_delivered));
  std::uint64_t crossings = 0;
  for (std::size_t h = 0; h < r.hops.size(); ++h) crossings += h * r.hops[h];
  EXPECT_EQ(crossings, r.packet_hops);
  EXPECT_TRUE(r.hops.empty() || (r.hops[0] == 0 && r.hops[1] == 0));  // at least the two links of the nodes
  for (std::size_t j = 0; j < s.jobs.size(); ++j) {
    const job& asked = s.jobs[j];
    const job_result& got = r.jobs[j];
    EXPECT_EQ(got.bytes, got.messages * static_cast<std::uint64_t>(asked.message));
    std::uint64_t out = 0;
    std::uint64_t in = 0;
    for (const std::uint32_t node : asked.nodes) {
      out += sent[node];
      in += received[node];
      EXPECT_TRUE(asked.pattern != "permutation" || sent[node] == received[node]);
    }
    EXPECT_EQ(out, got.bytes);
    EXPECT_EQ(in, got.bytes);  // and none at other jobs' nodes
    if (asked.arrivals == arrivals::closed) {
      ASSERT_EQ(got.iteration_ends.size(), static_cast<std::size_t>(asked.iterations));
      EXPECT_TRUE(std::ranges::is_sorted(got.iteration_ends));
      EXPECT_GE(got.iteration_ends.front(), asked.start + asked.compute);
      EXPECT_EQ(got.messages % static_cast<std::uint64_t>(asked.iterations), 0U);
      EXPECT_EQ(got.ended, got.iteration_ends.back());
    } else {
      const std::size_t senders =
          asked.nodes.size() -
          (asked.pattern == "incast" ? static_cast<std::size_t>(numbers_of(asked.own.at("targets"))[0]) : 0);
      EXPECT_EQ(got.messages, senders * static_cast<std::uint64_t>(asked.messages));
    }
  }
}

class any_simulation : public testing::TestWithParam<std::uint64_t> {};
constexpr std::uint64_t runs_of_each_test = 20;

TEST_P(any_simulation, delivers_every_byte_exactly_once_and_ends) {
  for (std::uint64_t i = 0; i < runs_of_each_test; ++i) {
    const simulation s = some_simulation(GetParam() * 1000 + i);
    SCOPED_TRACE(described(s));
    const result r = simulate(s, {});
    expect_consistency(s, r);
    expect_everything_delivered(s, r);
    if (HasFailure()) return;
  }
}

TEST_P(any_simulation, counts_nothing_after_its_end) {
  for (std::uint64_t i = 0; i < runs_of_each_test; ++i) {
    simulation s = some_simulation(GetParam() * 1000 + i);
    const result whole = simulate(s, {});
    s.end = whole.ended * (1 + static_cast<picoseconds>(i % 4)) / 4;
    if (i % 3 == 0) {
      for (job& j : s.jobs) {
        j.messages = 0;  // without end
        j.message = std::max(j.message, std::int64_t{1000});
      }
    }
    SCOPED_TRACE(described(s));
    const result r = simulate(s, {});
    EXPECT_EQ(r.ended, s.end);
    EXPECT_FALSE(r.stopped);
    expect_consistency(s, r);
    for (const job_result& j : r.jobs) EXPECT_LE(j.ended, s.end);
    EXPECT_LE(r.packet_latency.most, s.end);
    if (i % 3 != 0) {
      EXPECT_LE(r.packets, whole.packets);
      EXPECT_LE(r.messages_created, whole.messages_created);
    }
    EXPECT_TRUE(i % 4 != 3 || i % 3 == 0 || r.packets == whole.packets) << "it was cut off where it ends anyway";
    if (HasFailure()) return;
  }
}

TEST_P(any_simulation, repeats_to_the_bit_and_differs_with_another_seed) {
  unsigned differ = 0;
  for (std::uint64_t i = 0; i < runs_of_each_test; ++i) {
    simulation s = some_simulation(GetParam() * 1000 + i);
    SCOPED_TRACE(described(s));
    const std::string once = as_text(simulate(s, {}));
    ASSERT_EQ(as_text(simulate(s, {})), once);
    s.seed += 1;
    differ += as_text(simulate(s, {})) != once ? 1 : 0;
  }
  // A closed job with a fixed pattern and minimal paths draws nothing.
  EXPECT_GT(differ, runs_of_each_test / 2);
}

INSTANTIATE_TEST_SUITE_P(netsim, any_simulation, testing::Range<std::uint64_t>(0, 15));

// A Valiant path through rings of 256 and 128 crosses up to 386 links.
TEST(a_simulation, counts_the_links_of_paths_of_any_length_and_chooses_each_path_once) {
  simulation s;
  s.topology = "torus";
  s.parameters = {{"dimensions", {256, 128}}};
  s.routing.algorithm = algorithm::valiant;
  job j;
  for (std::uint32_t node = 0; node < 256 * 128; node += 64) j.nodes.push_back(node);
  j.message = 4096;
  j.messages = 4;
  s.jobs = {j};
  const result r = simulate(s, {});
  std::uint64_t packets = 0, links = 0;
  for (std::size_t crossed = 0; crossed < r.hops.size(); ++crossed) {
    packets += r.hops[crossed];
    links += crossed * r.hops[crossed];
  }
  EXPECT_EQ(packets, r.packets);
  EXPECT_EQ(links, r.packet_hops);
  EXPECT_GT(r.hops.size(), 257U);
  EXPECT_LE(r.hops.size(), 2U * (128 + 64) + 2 + 1);
  // A quarter of each ring to the intermediate switch, a quarter of each from there, and the links of the nodes.
  EXPECT_NEAR(static_cast<double>(links) / static_cast<double>(packets), 2 * (64 + 32) + 2, 6);
}

simulation long_run(arrivals how) {
  simulation s;
  s.topology = "torus";
  s.parameters = {{"dimensions", {4, 4}}};
  job j;
  j.nodes = first_nodes(16);
  j.arrivals = how;
  j.message = 4096;
  j.messages = 0;
  j.compute = 1000;
  j.iterations = 1'000'000'000;
  s.jobs = {j};
  s.end = 1'000'000'000'000'000;
  return s;
}

TEST(a_simulation, stops_when_it_is_told_and_answers_with_what_it_has) {
  for (const arrivals how : {arrivals::poisson, arrivals::closed}) {
    simulation s = long_run(how);
    s.jobs[0].iterations = 1'000'000;
    state_of_run seen{};
    unsigned calls = 0;
    const result r = simulate(s, [&](const state_of_run& state) {
      EXPECT_GT(state.now, seen.now);
      EXPECT_GT(state.events, seen.events);
      EXPECT_GT(state.messages_done, seen.messages_done);
      seen = state;
      return ++calls < 2;
    });
    EXPECT_TRUE(r.stopped);
    EXPECT_EQ(calls, 2U);
    EXPECT_EQ(r.ended, seen.now);
    EXPECT_EQ(r.messages_delivered, seen.messages_done);
    EXPECT_LE(r.packets, r.packets_injected);
  }
}

TEST(a_simulation, can_be_interrupted_while_a_large_network_is_set_up) {
  simulation s = long_run(arrivals::poisson);
  s.parameters = {{"dimensions", {64, 64, 16}}};
  struct interrupt {};
  EXPECT_THROW((void)simulate(s,
                              [](const state_of_run& state) {
                                if (state.events == 0) throw interrupt{};
                                return false;
                              }),
               interrupt);
}

TEST(a_simulation, leaves_what_came_before_the_warm_up_out_of_the_latencies_only) {
  simulation s = long_run(arrivals::poisson);
  s.end = 200'000'000;
  const result all = simulate(s, {});
  s.warmup = 100'000'000;
  const result later = simulate(s, {});
  EXPECT_EQ(all.packets, later.packets);
  EXPECT_EQ(all.packet_hops, later.packet_hops);
  EXPECT_LT(later.packet_latency.count, all.packet_latency.count * 6 / 10);
  EXPECT_GT(later.packet_latency.count, all.packet_latency.count * 4 / 10);
}

TEST(a_simulation, is_the_same_for_a_job_whatever_other_jobs_do_elsewhere) {
  // Two pairs of nodes, each at its own switch, share no link.
  simulation s;
  s.topology = "hyperx";
  s.parameters = {{"dimensions", {2}}, {"nodes_per_switch", {2}}};
  job j;
  j.pattern = "permutation";
  j.nodes = {0, 1};
  s.jobs = {j};
  const result alone = simulate(s, {});
  j.nodes = {2, 3};
  j.load = 1.0;
  s.jobs.push_back(j);
  const result beside = simulate(s, {});
  EXPECT_EQ(as_text(alone.jobs[0].message_latency), as_text(beside.jobs[0].message_latency));
}

}  // namespace
}  // namespace lull::netsim
