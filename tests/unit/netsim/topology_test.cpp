#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "instances.hpp"

namespace lull::netsim {
namespace {

class every_topology : public testing::TestWithParam<instance> {};
INSTANTIATE_TEST_SUITE_P(all, every_topology, testing::ValuesIn(all_instances()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(every_topology, the_peer_of_a_peer_is_oneself) {
  const auto network = GetParam().build();
  for (std::uint32_t s = 0; s < network->switches(); ++s) {
    for (unsigned p = 0; p < network->ports(s); ++p) {
      const endpoint other = network->peer(s, p);
      const endpoint self{s, static_cast<std::uint16_t>(p), false};
      if (other.node) {
        ASSERT_LT(other.id, network->nodes());
        ASSERT_EQ(network->attach_point(other.id), self) << "node " << other.id;
      } else {
        ASSERT_LT(other.id, network->switches());
        ASSERT_LT(other.port, network->ports(other.id));
        ASSERT_NE(other.id, s) << "a cable from a switch to itself at port " << p;
        ASSERT_EQ(network->peer(other.id, other.port), self) << "switch " << s << " port " << p;
      }
    }
  }
}

TEST_P(every_topology, every_node_hangs_at_its_home) {
  const auto network = GetParam().build();
  ASSERT_GT(network->nodes(), 0U);
  for (std::uint32_t n = 0; n < network->nodes(); ++n) {
    const endpoint attach_point = network->attach_point(n);
    ASSERT_FALSE(attach_point.node);
    ASSERT_LT(attach_point.id, network->switches());
    ASSERT_LT(attach_point.port, network->ports(attach_point.id));
    ASSERT_EQ(network->peer(attach_point.id, attach_point.port), (endpoint{n, 0, true}));
  }
}

TEST_P(every_topology, every_switch_can_be_reached) {
  const auto network = GetParam().build();
  std::vector<bool> seen(network->switches());
  std::vector<std::uint32_t> open{0};
  seen[0] = true;
  std::size_t reached = 1;
  while (!open.empty()) {
    const std::uint32_t s = open.back();
    open.pop_back();
    for (unsigned p = 0; p < network->ports(s); ++p) {
      const endpoint other = network->peer(s, p);
      if (other.node || seen[other.id]) continue;
      seen[other.id] = true;
      ++reached;
      open.push_back(other.id);
    }
  }
  EXPECT_EQ(reached, network->switches());
}

TEST(presets, have_distinct_names_and_build) {
  std::map<std::string, int> names;
  for (const preset_of& p : all_presets()) {
    EXPECT_EQ(names[p.is->name]++, 0) << p.is->name;
    EXPECT_NO_THROW((void)p.of->build(p.is->parameters)) << p.is->name;
  }
}

// The connections between the groups of a dragonfly.
class every_dragonfly : public testing::TestWithParam<instance> {};
std::vector<instance> dragonflies() {
  std::vector<instance> result = all_instances();
  std::erase_if(result, [](const instance& i) { return !i.topology.starts_with("dragonfly"); });
  return result;
}
INSTANTIATE_TEST_SUITE_P(all, every_dragonfly, testing::ValuesIn(dragonflies()),
                         [](const auto& tested) { return tested.param.name; });

struct joined {
  unsigned groups, routers, globals;
  std::vector<unsigned> between;    // cables by group and group
  std::vector<unsigned> of_router;  // by router and group
  // By router: the routers, within their groups, at the ends of its cables.
  std::vector<std::vector<unsigned>> partners;
};
joined join(const instance& i) {
  const parameters& p = i.parameters;
  joined result{};
  result.routers = static_cast<unsigned>(p.contains("routers") ? p.at("routers").front()
                                                               : p.at("rows").front() * p.at("columns").front());
  result.globals = static_cast<unsigned>(p.at("globals").front());
  const auto network = i.build();
  result.groups = network->switches() / result.routers;
  result.between.resize(std::size_t{result.groups} * result.groups);
  result.of_router.resize(std::size_t{network->switches()} * result.groups);
  result.partners.resize(network->switches());
  for (std::uint32_t s = 0; s < network->switches(); ++s) {
    for (unsigned port = 0; port < network->ports(s); ++port) {
      const endpoint other = network->peer(s, port);
      if (other.node || other.id / result.routers == s / result.routers) continue;
      ++result.between[std::size_t{s / result.routers} * result.groups + other.id / result.routers];
      ++result.of_router[std::size_t{s} * result.groups + other.id / result.routers];
      result.partners[s].push_back(other.id % result.routers);
    }
  }
  return result;
}

TEST_P(every_dragonfly, shares_its_global_cables_equally_between_pairs_of_groups) {
  const joined found = join(GetParam());
  if (found.groups == 1) return;
  const unsigned fewest = found.routers * found.globals / (found.groups - 1);
  for (unsigned a = 0; a < found.groups; ++a) {
    unsigned all = 0;
    for (unsigned b = 0; b < found.groups; ++b) {
      if (a == b) continue;
      const unsigned cables = found.between[std::size_t{a} * found.groups + b];
      all += cables;
      EXPECT_GE(cables, fewest);
      EXPECT_LE(cables, fewest + 1);
    }
    const unsigned left = found.routers * found.globals % (found.groups - 1);
    EXPECT_EQ(all, found.routers * found.globals - (left % 2 == 1 && found.groups % 2 == 1 ? 1 : 0));
  }
}

TEST_P(every_dragonfly, shares_the_cables_of_a_router_equally_between_groups) {
  const joined found = join(GetParam());
  if (found.groups == 1) return;
  const unsigned fewest = found.globals / (found.groups - 1);
  for (std::size_t s = 0; s < found.partners.size(); ++s) {
    if (found.partners[s].size() < found.globals) continue;  // a port is free
    for (unsigned g = 0; g < found.groups; ++g) {
      if (g == s / found.routers) continue;
      EXPECT_GE(found.of_router[s * found.groups + g], fewest);
      EXPECT_LE(found.of_router[s * found.groups + g], fewest + 1);
    }
  }
}

TEST_P(every_dragonfly, leads_from_a_router_to_different_ones_of_other_groups) {
  const joined found = join(GetParam());
  if (found.groups < 3 || found.globals < 2 || found.routers < 4) return;
  double different = 0;
  for (std::vector<unsigned> of_one : found.partners) {
    std::ranges::sort(of_one);
    of_one.erase(std::unique(of_one.begin(), of_one.end()), of_one.end());
    different += static_cast<double>(of_one.size());
  }
  different /= static_cast<double>(found.partners.size());
  // A random wiring meets a (1 - (1 - 1/a)^h) different ones of a: the test requires about that.
  const double random = found.routers * (1 - std::pow(1 - 1.0 / found.routers, found.globals));
  EXPECT_GT(different, 0.9 * random);
}

}  // namespace
}  // namespace lull::netsim
