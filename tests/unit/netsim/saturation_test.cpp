// The load that a network carries when every node offers the rate of its link: never more than its cables allow, and
// not much less.
//
// There are two bounds, independent of queues. Uniform traffic sends N / (2 (N - 1)) of each node's packets to the
// other half of the nodes, so the cut between the halves bounds the mean rate of the nodes for any routing:
//
//   rate <= 4 b (N - 1) / N^2      b: links of the cut, in one direction, that are as fast as a node's
//
// If the paths are minimal, the links fall into classes that no symmetry of the network distinguishes (the levels of a
// tree, the dimensions of a grid, inside and between groups). A packet crosses x_c links of class c on average, of
// which there are l_c, and no source can shift its share from one class to another, so
//
//   rate <= min over c of l_c / (N x_c)   (Dally and Towles, "Principles and Practices of Interconnection Networks",
//   2004, 3.3)
//
// A real switch stays below the bound for two reasons: a queue in an input buffer waits behind its head (58.6 % is what
// an input-queued switch carries with one queue each, Karol, Hluchyj and Morgan 1987; output buffers and channels raise
// it), and chance loads some links of a class more than others.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "netsim/instances.hpp"
#include "netsim/runs.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {
namespace {

struct load_case {
  std::string name;
  instance network;
  algorithm how;
  bool shortest;                                               // no path is longer than it must be
  unsigned (*class_of)(std::uint32_t from, std::uint32_t to);  // of a link between switches
  double least;                                                // share of the bound that must be carried
  friend void PrintTo(const load_case& c, std::ostream* out) { *out << c.name; }
};

// For a grid with known sides: the dimension in which two switches differ.
template <unsigned... sides>
unsigned dimension_of(std::uint32_t from, std::uint32_t to) {
  unsigned dimension = 0;
  for (const unsigned side : {sides...}) {
    if (from % side != to % side) return dimension;
    from /= side;
    to /= side;
    ++dimension;
  }
  return dimension;
}
// For a fat tree of 4 pods of 4 edge and 4 aggregation switches: its level and direction.
unsigned level_of(std::uint32_t from, std::uint32_t to) {
  const auto level = [](std::uint32_t s) { return s < 16 ? 0U : s < 32 ? 1U : 2U; };
  return 3 * level(from) + level(to);
}
// For a dragonfly of groups of 4 routers: whether the link leaves the group.
unsigned global_of(std::uint32_t from, std::uint32_t to) { return from / 4 == to / 4 ? 0 : 1; }

double mean_rate(const result& r, std::uint32_t nodes) {
  return static_cast<double>(r.bytes_delivered) * 80 / static_cast<double>(r.ended) / nodes;
}

// By classes of links, from the paths of all pairs.
double channel_bound(const shape& network, const load_case& c) {
  const std::uint32_t n = network.nodes();
  std::map<unsigned, double> crossings;
  std::map<unsigned, double> links;
  for (std::uint32_t s = 0; s < network.switches(); ++s)
    for (unsigned p = 0; p < network.ports(s); ++p)
      if (const endpoint other = network.peer(s, p); !other.node) ++links[c.class_of(s, other.id)];
  for (std::uint32_t from = 0; from < n; ++from)
    for (std::uint32_t to = 0; to < n; ++to) {
      if (from == to) continue;
      const std::vector<hop> path = network.path(from, to, algorithm::minimal, 1);
      std::uint32_t at = network.attach_point(from).id;
      for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        const std::uint32_t next = network.peer(at, path[i].port).id;
        ++crossings[c.class_of(at, next)];
        at = next;
      }
    }
  double bound = 1;
  for (const auto& [which, count] : crossings) bound = std::min(bound, links[which] * (n - 1) / count);
  return bound;
}

class blocked : public testing::TestWithParam<load_case> {};

simulation uniform_load(const load_case& c, const shape& network, double load) {
  simulation s;
  s.topology = c.network.topology;
  s.parameters = c.network.parameters;
  s.routing.algorithm = c.how;
  s.network.virtual_channels = 4 * network.channels(c.how);
  s.network.output_buffer = 32768;
  job& j = s.jobs.emplace_back();
  j.nodes = first_nodes(network.nodes());
  j.load = load;
  j.message = 4096;
  j.messages = 0;
  s.end = 1'500'000'000;
  return s;
}

double bound_of(const load_case& c, const shape& network) {
  const double n = network.nodes();
  const double cut = 4.0 * static_cast<double>(network.bisection()) * (n - 1) / n / n;
  return std::min(cut, c.shortest ? channel_bound(network, c) : 1.0);
}

TEST_P(blocked, carries_what_its_cables_allow_and_never_more) {
  const load_case& c = GetParam();
  const auto network = c.network.build();
  const double carried = mean_rate(simulate(uniform_load(c, *network, 1), {}), network->nodes());
  const double bound = bound_of(c, *network);
  RecordProperty("carried_of_bound", fmt::format("{:.3f} of {:.3f}", carried, bound));
  EXPECT_LE(carried, bound * 1.01);  // the pairs are random: the mean is accurate to a percent
  EXPECT_GE(carried, bound * c.least);
}

TEST_P(blocked, carries_all_it_is_offered_below_the_bound) {
  const load_case& c = GetParam();
  const auto network = c.network.build();
  const double offered = bound_of(c, *network) * 0.8;
  const double carried = mean_rate(simulate(uniform_load(c, *network, offered), {}), network->nodes());
  EXPECT_NEAR(carried / offered, 1, 0.02);
}

std::vector<load_case> load_cases() {
  const instance tree{"", "fat-tree", {{"radix", {8}}, {"pods", {4}}}};
  const instance tapered{
      "", "fat-tree", {{"radix", {8}}, {"pods", {4}}, {"aggregation_uplinks", {2}}, {"edges_per_pod", {4}}}};
  const instance dragonfly{"", "dragonfly", {{"routers", {4}}, {"nodes_per_router", {4}}, {"globals", {2}}}};
  const instance plane{"", "hyperx", {{"dimensions", {4, 4}}, {"cables", {1}}, {"nodes_per_switch", {8}}}};
  const instance uneven{"", "hyperx", {{"dimensions", {4, 6}}, {"cables", {2, 1}}, {"nodes_per_switch", {8}}}};
  const instance torus{"", "torus", {{"dimensions", {8, 8}}, {"nodes_per_switch", {2}}}};
  const instance cube{"", "torus", {{"dimensions", {4, 4, 8}}, {"nodes_per_switch", {2}}}};
  constexpr bool shortest = true;
  return {{"fat_tree_adaptive", tree, algorithm::adaptive, shortest, level_of, 0.9},
          {"fat_tree_random", tree, algorithm::minimal_random, shortest, level_of, 0.9},
          {"fat_tree_tapered", tapered, algorithm::adaptive, shortest, level_of, 0.9},
          {"dragonfly_minimal", dragonfly, algorithm::minimal, shortest, global_of, 0.6},
          {"dragonfly_random", dragonfly, algorithm::minimal_random, shortest, global_of, 0.6},
          {"dragonfly_adaptive", dragonfly, algorithm::adaptive, false, global_of, 0.5},
          {"hyperx_minimal", plane, algorithm::minimal, shortest, dimension_of<4, 4>, 0.75},
          {"hyperx_random", plane, algorithm::minimal_random, shortest, dimension_of<4, 4>, 0.75},
          {"hyperx_adaptive", plane, algorithm::adaptive, false, dimension_of<4, 4>, 0.6},
          {"hyperx_uneven", uneven, algorithm::minimal, shortest, dimension_of<4, 6>, 0.75},
          {"torus_minimal", torus, algorithm::minimal, shortest, dimension_of<8, 8>, 0.5},
          {"torus_random", torus, algorithm::minimal_random, shortest, dimension_of<8, 8>, 0.5},
          {"torus_adaptive", torus, algorithm::adaptive, false, dimension_of<8, 8>, 0.5},
          {"torus_cube", cube, algorithm::minimal, shortest, dimension_of<4, 4, 8>, 0.5}};
}

INSTANTIATE_TEST_SUITE_P(netsim, blocked, testing::ValuesIn(load_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lull::netsim
