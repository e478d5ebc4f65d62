// Paths end where they should, use only allowed channels, and form no cycle.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "instances.hpp"

namespace lull::netsim {
namespace {

constexpr unsigned unreached = ~0U;

// By links from one switch. In a dragonfly, over paths that change the group at most once; `group_size` 0 means no
// groups.
std::vector<unsigned> distances(const shape& network, std::uint32_t from, std::uint32_t group_size) {
  const auto crosses = [&](std::uint32_t a, std::uint32_t b) {
    return group_size > 0 && a / group_size != b / group_size;
  };
  const std::uint32_t all = network.switches();
  std::vector<unsigned> links(2 * std::size_t{all}, unreached);  // before and after the change of group
  std::vector<std::uint32_t> open{from};
  links[from] = 0;
  for (std::size_t i = 0; i < open.size(); ++i) {
    const std::uint32_t s = open[i] % all;
    const bool changed = open[i] >= all;
    for (unsigned p = 0; p < network.ports(s); ++p) {
      const endpoint other = network.peer(s, p);
      if (other.node || (changed && crosses(s, other.id))) continue;
      const std::uint32_t state = other.id + (changed || crosses(s, other.id) ? all : 0);
      if (links[state] != unreached) continue;
      links[state] = links[open[i]] + 1;
      open.push_back(state);
    }
  }
  for (std::uint32_t s = 0; s < all; ++s) links[s] = std::min(links[s], links[all + s]);
  links.resize(all);
  return links;
}

std::uint32_t group_size(const instance& i) {
  const parameters& p = i.parameters;
  if (i.topology == "dragonfly") return static_cast<std::uint32_t>(p.at("routers").front());
  if (i.topology == "dragonfly-rows") {
    return static_cast<std::uint32_t>(p.at("rows").front() * p.at("columns").front());
  }
  return 0;
}

// Ports busy at random, differently for every seed: about half of them are idle.
shape::waits busy_at_random(std::uint64_t seed) {
  return [seed](std::uint32_t s, unsigned port) -> picoseconds {
    generator random(seed * 1'000'003 + s * 1009 + port);
    return random.below(2) == 0 ? 0 : random.below(1'000'000);
  };
}

class all_paths : public testing::TestWithParam<instance> {};
INSTANTIATE_TEST_SUITE_P(small, all_paths, testing::ValuesIn(small_instances()),
                         [](const auto& tested) { return tested.param.name; });
INSTANTIATE_TEST_SUITE_P(presets, all_paths, testing::ValuesIn(presets()),
                         [](const auto& tested) { return tested.param.name; });

// Calls `see(from, to, algorithm, path)` for paths between many pairs: all where there are few, otherwise random ones.
template <class See>
void for_paths(const shape& network, std::uint64_t pairs, unsigned seeds, const See& see) {
  const std::uint64_t all = std::uint64_t{network.nodes()} * network.nodes();
  generator random(7);
  for (std::uint64_t i = 0; i < std::min(pairs, all); ++i) {
    const std::uint64_t pair = all <= pairs ? i : random() % all;
    const auto from = static_cast<std::uint32_t>(pair / network.nodes());
    const auto to = static_cast<std::uint32_t>(pair % network.nodes());
    for (const algorithm a : all_algorithms) {
      for (unsigned seed = 0; seed < seeds; ++seed) {
        const bool idle = seed % 2 == 0;
        see(from, to, a, network.path(from, to, a, pair * 31 + seed, idle ? shape::waits{} : busy_at_random(seed)));
      }
    }
  }
}

TEST_P(all_paths, end_at_the_destination_in_their_channels_and_never_come_back) {
  const auto network = GetParam().build();
  for_paths(*network, 4000, 4, [&](std::uint32_t from, std::uint32_t to, algorithm a, const std::vector<hop>& path) {
    std::set<std::tuple<std::uint32_t, unsigned, unsigned>> used;
    const std::vector<step> steps = steps_of(*network, from, path);
    for (const step& s : steps) {
      ASSERT_LT(s.by.port, network->ports(s.at));
      ASSERT_LT(s.by.channel, network->channels(a));
      ASSERT_TRUE(used.emplace(s.at, s.by.port, s.by.channel).second) << "the same channel of a link twice";
    }
    ASSERT_LE(path.size() + 1, network->most_links());
    ASSERT_EQ(network->peer(steps.back().at, steps.back().by.port), (endpoint{to, 0, true}));
  });
}

TEST_P(all_paths, are_shortest_when_minimal) {
  const auto network = GetParam().build();
  std::vector<std::vector<unsigned>> links(network->switches());
  for_paths(*network, 20000, 2, [&](std::uint32_t from, std::uint32_t to, algorithm a, const std::vector<hop>& path) {
    if (a != algorithm::minimal && a != algorithm::minimal_random) return;
    std::vector<unsigned>& known = links[network->attach_point(from).id];
    if (known.empty()) known = distances(*network, network->attach_point(from).id, group_size(GetParam()));
    ASSERT_EQ(path.size(), known[network->attach_point(to).id] + 1U) << from << " to " << to;
  });
}

TEST_P(all_paths, are_shortest_when_adaptive_and_nothing_waits) {
  const auto network = GetParam().build();
  for_paths(*network, 2000, 1, [&](std::uint32_t from, std::uint32_t to, algorithm a, const std::vector<hop>& path) {
    if (a != algorithm::adaptive && a != algorithm::power_aware) return;
    ASSERT_EQ(path.size(), network->path(from, to, algorithm::minimal, 1).size());
  });
}

TEST_P(all_paths, are_the_same_for_a_pair_when_minimal) {
  const auto network = GetParam().build();
  for_paths(*network, 500, 1, [&](std::uint32_t from, std::uint32_t to, algorithm a, const std::vector<hop>& path) {
    if (a != algorithm::minimal) return;
    const std::vector<hop> again = network->path(from, to, a, 12345, busy_at_random(3));
    ASSERT_TRUE(std::ranges::equal(path, again, [](const hop& x, const hop& y) { return x.port == y.port; }));
  });
}

// A path waits for each of its links while it holds the previous one. A cycle of such waits would be a deadlock.
class small_paths : public testing::TestWithParam<instance> {};
INSTANTIATE_TEST_SUITE_P(all, small_paths, testing::ValuesIn(small_instances()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(small_paths, have_no_cycle_of_dependencies) {
  const auto network = GetParam().build();
  for (const algorithm a : all_algorithms) {
    const unsigned channels = network->channels(a);
    unsigned most_ports_found = 0;
    for (std::uint32_t s = 0; s < network->switches(); ++s) {
      most_ports_found = std::max(most_ports_found, network->ports(s));
    }
    const auto number = [&](const step& s) {
      return (std::size_t{s.at} * most_ports_found + s.by.port) * channels + s.by.channel;
    };
    std::vector<std::set<std::size_t>> next(std::size_t{network->switches()} * most_ports_found * channels);
    for (std::uint32_t from = 0; from < network->nodes(); ++from) {
      for (std::uint32_t to = 0; to < network->nodes(); ++to) {
        for (unsigned seed = 0; seed < 12; ++seed) {
          const std::vector<hop> path = network->path(from, to, a, seed * 7919 + from, busy_at_random(seed * 13 + to));
          const std::vector<step> steps = steps_of(*network, from, path);
          for (std::size_t i = 1; i < steps.size(); ++i) next[number(steps[i - 1])].insert(number(steps[i]));
        }
      }
    }
    // Removes, one after another, nodes for which nothing waits any more: in a graph without a cycle nothing remains.
    std::vector<unsigned> waiting(next.size());
    for (const auto& those : next) {
      for (const std::size_t n : those) ++waiting[n];
    }
    std::vector<std::size_t> free;
    for (std::size_t n = 0; n < next.size(); ++n) {
      if (waiting[n] == 0) free.push_back(n);
    }
    for (std::size_t i = 0; i < free.size(); ++i) {
      for (const std::size_t n : next[free[i]]) {
        if (--waiting[n] == 0) free.push_back(n);
      }
    }
    EXPECT_EQ(free.size(), next.size()) << "with algorithm " << static_cast<int>(a);
  }
}

// The test above would prove nothing about detours if none were taken.
TEST_P(small_paths, are_longer_than_shortest_for_adaptive_packets_before_long_queues) {
  const auto network = GetParam().build();
  const instance& i = GetParam();
  const bool has_detours = network->channels(algorithm::adaptive) > network->channels(algorithm::minimal);
  bool longer = false;
  for_paths(*network, 20000, 4, [&](std::uint32_t from, std::uint32_t to, algorithm a, const std::vector<hop>& path) {
    if (a != algorithm::adaptive) return;
    longer = longer || path.size() > network->path(from, to, algorithm::minimal, 1).size();
  });
  EXPECT_EQ(longer, has_detours) << i.name;
}

}  // namespace
}  // namespace lull::netsim
