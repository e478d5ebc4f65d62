// Latency without load, to the picosecond: for every kind of pair of nodes, in every topology, it is the sum of the
// delays that the packet passes.
//
// With h links, of which the first and the last belong to nodes, c, s and n the delays of cable, switch and interface,
// and t_i the time that link i needs for the packet's bits:
//
//   cut-through        2 n + h c + (h - 1) s + max t_i   the slowest link spreads the bits, the others pass them on
//   store and forward  2 n + h c + (h - 1) s + sum t_i
//
// The packets of a message follow each other without a gap if its links are equally fast, so the last bit of a message
// of m bytes arrives m / bandwidth after the first bit (cut-through), or after the first packet (store and forward).
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "netsim/instances.hpp"
#include "netsim/runs.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {
namespace {

picoseconds time_of(std::int64_t bytes, double bytes_per_second) {
  return static_cast<picoseconds>(static_cast<double>(bytes) / bytes_per_second * 1e12);
}

// Different pairs of nodes: at one switch, with adjacent numbers, far apart, and random.
std::vector<std::pair<std::uint32_t, std::uint32_t>> some_pairs(std::uint32_t nodes) {
  std::vector<std::uint32_t> order = first_nodes(nodes);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::uint32_t next = 0;
  for (; next + 1 < nodes && pairs.size() < 8; next += 2) pairs.emplace_back(next, next + 1);
  generator random(7);
  for (std::uint32_t i = nodes; i-- > next + 1;) std::swap(order[i], order[next + random.below(i + 1 - next)]);
  for (; next + 1 < nodes && pairs.size() < 60; next += 2) pairs.emplace_back(order[next], order[next + 1]);
  return pairs;
}

// One message at a time: each pair is a job of its own, which begins long after the previous ones have ended.
simulation one_at_a_time(const instance& on, std::int64_t message, std::uint32_t nodes) {
  simulation s;
  s.topology = on.topology;
  s.parameters = on.parameters;
  s.network.cable_delay = 7'001;
  s.network.switch_delay = 91'003;
  s.network.nic_delay = 13'007;
  s.network.credit_delay = 1'000'000;
  for (const auto& [from, to] : some_pairs(nodes)) {
    job& j = s.jobs.emplace_back();
    j.nodes = {to, from};
    j.pattern = "incast";  // the second node sends to the first
    j.arrivals = arrivals::periodic;
    j.load = 1;
    j.message = message;
    j.messages = 1;
    j.start = static_cast<picoseconds>(s.jobs.size()) * 1'000'000'000;
  }
  return s;
}

class every_network : public testing::TestWithParam<instance> {
 protected:
  std::unique_ptr<shape> network = GetParam().build();

  // Compares all latencies of the run; `expected` computes each from the number of links.
  template <class F>
  void expect_latencies(simulation s, std::uint64_t packets, F&& expected) {
    const result r = simulate(s, {});
    ASSERT_EQ(r.messages_delivered, s.jobs.size());
    // The number of links of each message is known only for the run as a whole, unless its path is fixed.
    std::vector<std::uint64_t> hops(r.hops.size());
    for (std::size_t i = 0; i < s.jobs.size(); ++i) {
      const histogram& h = r.jobs[i].message_latency;
      ASSERT_EQ(h.count, 1U);
      const auto latency = static_cast<picoseconds>(h.sum);
      std::size_t links = 2;
      while (links < hops.size() && expected(links) != latency) ++links;
      ASSERT_LT(links, hops.size()) << "from node " << s.jobs[i].nodes[1] << " to " << s.jobs[i].nodes[0] << " took "
                                    << latency << " ps, which no number of links explains; 2 would take " << expected(2)
                                    << ", 3 " << expected(3);
      hops[links] += packets;
      if (s.routing.algorithm != algorithm::minimal) continue;
      ASSERT_EQ(links, network->path(s.jobs[i].nodes[1], s.jobs[i].nodes[0], algorithm::minimal, 1).size() + 1);
    }
    EXPECT_EQ(hops, r.hops);
  }
};

TEST_P(every_network, delays_a_packet_by_what_it_passes_through) {
  constexpr std::int64_t bytes = 3001;
  for (const bool cut_through : {true, false})
    for (const double nic_bandwidth : {12.5e9, 5e9, 25e9})
      for (const algorithm a : all_algorithms) {
        if (network->nodes() > 5000 && a != algorithm::minimal && a != algorithm::adaptive) continue;  // a second each
        simulation s = one_at_a_time(GetParam(), bytes, network->nodes());
        s.network.cut_through = cut_through;
        s.network.nic_bandwidth = nic_bandwidth;
        s.routing.algorithm = a;
        SCOPED_TRACE(fmt::format("cut-through {} nic_bandwidth {} algorithm {}", cut_through, nic_bandwidth,
                                 static_cast<int>(a)));
        const auto& n = s.network;
        const picoseconds slow = time_of(bytes, nic_bandwidth);  // on a node's link
        const picoseconds link = time_of(bytes, n.bandwidth);
        expect_latencies(s, 1, [&](std::size_t links) {
          const auto h = static_cast<picoseconds>(links);
          const picoseconds bits = cut_through ? (h > 2 ? std::max(slow, link) : slow) : 2 * slow + (h - 2) * link;
          return 2 * n.nic_delay + h * n.cable_delay + (h - 1) * n.switch_delay + bits;
        });
        if (HasFatalFailure()) return;
      }
}

TEST_P(every_network, sends_the_packets_of_a_message_without_a_gap) {
  constexpr std::int64_t bytes = 10'000;
  for (const bool cut_through : {true, false}) {
    simulation s = one_at_a_time(GetParam(), bytes, network->nodes());
    s.network.cut_through = cut_through;
    s.routing.algorithm = algorithm::minimal;
    SCOPED_TRACE(cut_through);
    const auto& n = s.network;
    expect_latencies(s, 3, [&](std::size_t links) {
      const auto h = static_cast<picoseconds>(links);
      // Store and forward: the last packet, which is shorter, catches up with the previous one at the first switch.
      const picoseconds bits =
          time_of(bytes, n.bandwidth) + (cut_through ? 0 : (h - 1) * time_of(n.packet, n.bandwidth));
      return 2 * n.nic_delay + h * n.cable_delay + (h - 1) * n.switch_delay + bits;
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(every_network, delays_a_packet_by_a_wake_up_at_every_link) {
  constexpr std::int64_t bytes = 3001;
  simulation s = one_at_a_time(GetParam(), bytes, network->nodes());
  s.routing.algorithm = algorithm::minimal;
  s.power.mode = "deep-sleep";
  const picoseconds wake = policy_of(s.power).wake_deep;
  const auto& n = s.network;
  expect_latencies(s, 1, [&](std::size_t links) {
    const auto h = static_cast<picoseconds>(links);
    return 2 * n.nic_delay + h * (n.cable_delay + wake) + (h - 1) * n.switch_delay + time_of(bytes, n.bandwidth);
  });
}

INSTANTIATE_TEST_SUITE_P(netsim, every_network, testing::ValuesIn(all_instances()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lull::netsim
