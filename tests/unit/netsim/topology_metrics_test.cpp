#include "netsim/topology/topology_metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "instances.hpp"

namespace lull::netsim {
namespace {

topology_metrics of(const std::string& topology, const parameters& p) {
  return metrics_of(*find_topology(topology).build(p));
}

topology_metrics of_preset(const std::string& name) {
  for (const preset_of& p : all_presets()) {
    if (name == p.is->name) return of(p.of->name, p.is->parameters);
  }
  ADD_FAILURE() << "there is no preset " << name;
  return {};
}

class every_small_network : public testing::TestWithParam<instance> {};
INSTANTIATE_TEST_SUITE_P(all, every_small_network, testing::ValuesIn(small_instances()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(every_small_network, is_as_wide_as_all_its_shortest_ways_together_say) {
  const auto network = GetParam().build();
  const std::size_t n = network->switches();
  constexpr unsigned far = 1000;
  std::vector<unsigned> links(n * n, far);
  for (std::uint32_t s = 0; s < n; ++s) {
    links[s * n + s] = 0;
    for (unsigned p = 0; p < network->ports(s); ++p) {
      const endpoint other = network->peer(s, p);
      if (!other.node) links[s * n + other.id] = 1;
    }
  }
  for (std::size_t by = 0; by < n; ++by) {  // Floyd and Warshall
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b)
        links[a * n + b] = std::min(links[a * n + b], links[a * n + by] + links[by * n + b]);
    }
  }
  double sum = 0;
  double pairs = 0;
  unsigned most = 0;
  for (std::uint32_t a = 0; a < network->nodes(); ++a) {
    for (std::uint32_t b = 0; b < network->nodes(); ++b) {
      if (a == b) continue;
      const unsigned path = 2 + links[network->attach_point(a).id * n + network->attach_point(b).id];
      most = std::max(most, path);
      sum += path;
      ++pairs;
    }
  }
  const topology_metrics found = metrics_of(*network);
  EXPECT_EQ(found.diameter, most);
  EXPECT_DOUBLE_EQ(found.mean_links, sum / pairs);
  EXPECT_EQ(found.node_cables, network->nodes());
}

struct known {
  const char* preset;
  std::uint32_t nodes, switches;
  unsigned radix;
  std::uint64_t switch_cables;
  unsigned diameter;
  std::uint64_t bisection;
  friend void PrintTo(const known& k, std::ostream* out) { *out << k.preset; }
};

class preset_metrics : public testing::TestWithParam<known> {};
INSTANTIATE_TEST_SUITE_P(
    all, preset_metrics,
    testing::Values(
        // 8 pods of 24 + 24, 96 core; 24 x 24 cables in a pod and equally many up from it; half the nodes
        known{"fat-tree-4608", 4608, 8 * 48 + 96, 48, 2 * 8 * 24 * 24, 6, 2304},
        known{"fat-tree-65536", 65536, 2048 + 2048 + 1024, 64, 2 * 65536, 6, 32768},
        // 24 x 23 / 2 in a group; 288 ends leave each group: 19 cables to each other one, 20 to those 1 and 8 away; of
        // the 64 pairs across the middle 2 are 1 apart and 8 are 8 apart
        known{"dragonfly-4608", 4608, 16 * 24, 47, 16 * (24 * 23 / 2) + 16 * 288 / 2, 5, 64 * 19 + 2 + 8},
        // 6 rows with 16 x 15 / 2 cables, 16 columns with 3 x 6 x 5 / 2; 960 / 5 = 192 between two groups
        known{"dragonfly-rows-4608", 4608, 576, 48, 6 * (6 * 120 + 16 * 45) + 15 * 192, 5, 9 * 192},
        // 48 lines of 8 in either of the first dimensions, 28 pairs in each; 64 of 6, 15 pairs; cut where cables are
        // single
        known{"hyperx-4608", 4608, 384, 48, 48 * 28 + 2 * 48 * 28 + 3 * 64 * 15, 5, 48 * 4 * 4},
        known{"torus-4608", 4608, 4608, 7, 3 * 4608, 2 + 8 + 8 + 9, 2 * 256},
        // up to a spine and down; half the leaves send up everything from their nodes
        known{"leaf-spine-2048", 2048, 64 + 32, 64, 64 * 32, 4, 32 * 32}),
    [](const auto& tested) {
      std::string name = tested.param.preset;
      std::ranges::replace(name, '-', '_');
      return name;
    });

TEST_P(preset_metrics, are_known_by_arithmetic) {
  const known& k = GetParam();
  const topology_metrics found = of_preset(k.preset);
  EXPECT_EQ(found.nodes, k.nodes);
  EXPECT_EQ(found.switches, k.switches);
  EXPECT_EQ(found.radix, k.radix);
  EXPECT_EQ(found.node_cables, k.nodes);
  EXPECT_EQ(found.switch_cables, k.switch_cables);
  EXPECT_EQ(found.diameter, k.diameter);
  EXPECT_EQ(found.bisection, k.bisection);
}

// For these the known cut has the switches of low numbers on one side.
TEST(bisection, is_the_number_of_cables_over_the_cut) {
  for (const std::string name : {"dragonfly-4608", "dragonfly-rows-4608", "torus-4608"}) {
    const auto table = all_presets();
    const auto found = std::ranges::find_if(table, [&](const preset_of& p) { return name == p.is->name; });
    const auto network = found->of->build(found->is->parameters);
    std::uint64_t severed = 0;
    for (std::uint32_t s = 0; s < network->switches() / 2; ++s) {
      for (unsigned p = 0; p < network->ports(s); ++p) {
        const endpoint other = network->peer(s, p);
        severed += !other.node && other.id >= network->switches() / 2 ? 1 : 0;
      }
    }
    EXPECT_EQ(severed, network->bisection()) << name;
  }
}

// For `nodes` nodes whose switches are `between` links apart on average, counting each node itself.
double mean_over_others(double between, double nodes) { return 2 + between * nodes / (nodes - 1); }

TEST(mean_links, of_a_fat_tree_counts_edges_pods_and_the_rest) {
  const auto mean = [](double nodes, double edges, double pods) {
    const double sum = 2 * (nodes - 1) + 4 * nodes * (edges - 1) + 6 * nodes * edges * (pods - 1);
    return sum / (nodes * edges * pods - 1);
  };
  EXPECT_NEAR(of_preset("fat-tree-4608").mean_links, mean(24, 24, 8), 1e-9);
  EXPECT_NEAR(of_preset("fat-tree-4608").mean_links, 5.740, 0.0005);
  EXPECT_NEAR(of_preset("fat-tree-65536").mean_links, mean(32, 32, 64), 1e-9);
}

TEST(mean_links, of_a_hyperx_is_the_chance_that_coordinates_differ) {
  const double between = 7.0 / 8 + 7.0 / 8 + 5.0 / 6;
  EXPECT_NEAR(of_preset("hyperx-4608").mean_links, mean_over_others(between, 4608), 1e-9);
  const topology_metrics single =
      of("hyperx", {{"dimensions", {8, 8, 6}}, {"cables", {1}}, {"nodes_per_switch", {12}}});
  EXPECT_NEAR(single.mean_links, mean_over_others(between, 4608), 1e-9);
  EXPECT_NEAR(single.mean_links, 4.584, 0.0005);
}

TEST(mean_links, of_a_torus_is_a_quarter_of_each_ring) {
  EXPECT_NEAR(of_preset("torus-4608").mean_links, mean_over_others(4 + 4 + 4.5, 4608), 1e-9);
  // an odd ring: (5 x 5 - 1) / 4 / 5
  const topology_metrics odd = of("torus", {{"dimensions", {5, 2}}, {"nodes_per_switch", {3}}});
  EXPECT_NEAR(odd.mean_links, mean_over_others(6.0 / 5 + 0.5, 30), 1e-9);
}

TEST(mean_links, of_a_dragonfly_with_one_global_cable_counts_neighbours) {
  const double routers = 10;  // of a group; 11 groups
  const double nodes = 3;
  const topology_metrics found =
      of("dragonfly", {{"routers", {10}}, {"nodes_per_router", {3}}, {"globals", {1}}, {"groups", {0}}});
  // at distance 1: the group and the router at its own global cable; at 2: the rest of its group, and for each router
  // of its own group the one at that router's cable
  const double one = (routers - 1) + 1;
  const double two = 2 * (routers - 1);
  const double three = routers * (routers + 1) - 1 - one - two;
  EXPECT_NEAR(found.mean_links, 2 + nodes * (one + 2 * two + 3 * three) / (nodes * routers * (routers + 1) - 1), 1e-9);
  EXPECT_EQ(found.diameter, 5U);
}

}  // namespace
}  // namespace lull::netsim
