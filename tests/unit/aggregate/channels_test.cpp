// The closed forms of a route's channels agree with counting them one by one, and take memory proportional to the
// number of PEs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <random>
#include <set>
#include <vector>

#include "aggregate/channels/route.hpp"
#include "aggregate/hops/node_hop.hpp"
#include "aggregate/hops/pe_hop.hpp"
#include "aggregate/plan/plan.hpp"

namespace {
std::size_t allocated = 0;  // bytes, since the program began; these tests have one thread
}
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // both are replaced
void* operator new(std::size_t bytes) {
  allocated += bytes;
  if (void* const p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace lull::aggregate {
namespace {

struct job {
  lull::job::layout places;
  int pes;
};

// node_of[i]: the node of PE i.
job on_nodes(const std::vector<int>& node_of) {
  std::vector<lull::job::place> places;
  for (const int node : node_of) places.push_back({node, 0});
  return {lull::job::layout(places, pe_id{0}), static_cast<int>(node_of.size())};
}
job in_order(const std::vector<int>& sizes) {
  std::vector<int> node_of;
  for (std::size_t node = 0; node < sizes.size(); ++node)
    node_of.insert(node_of.end(), static_cast<std::size_t>(sizes[node]), static_cast<int>(node));
  return on_nodes(node_of);
}

// Nodes of equal and of different sizes, full and incomplete grids, PEs in order and interleaved.
std::vector<job> many_layouts() {
  std::vector<job> all;
  for (int nodes = 1; nodes <= 30; ++nodes)
    for (const int pes : {1, 2, 3}) all.push_back(in_order(std::vector<int>(static_cast<std::size_t>(nodes), pes)));
  all.push_back(in_order({7, 1, 1, 2, 5}));
  all.push_back(in_order({1, 1, 9}));
  all.push_back(in_order({5, 4, 3, 2, 1, 1, 1}));
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    std::vector<int> node_of;
    const int nodes = 1 + static_cast<int>(random() % 20);
    for (int node = 0; node < nodes; ++node) node_of.insert(node_of.end(), 1 + (i % 3 == 0 ? 2 : random() % 4), node);
    if (i % 2 == 0) std::shuffle(node_of.begin(), node_of.end(), random);
    all.push_back(on_nodes(node_of));
  }
  return all;
}

const std::vector<scheme> schemes{{buffering::per_pe, 1},   {buffering::per_pe, 2},   {buffering::per_pe, 3},
                                  {buffering::per_node, 1}, {buffering::per_node, 2}, {buffering::per_node, 3}};

// The nodes to which a node has channels, found from the hop of an item for each node.
std::vector<node_id> targets_one_by_one(int nodes, int hops, int hop, int from) {
  int width = 1;
  while (std::pow(width, hops) < nodes) ++width;
  const auto power = [&](int digits) { return static_cast<int>(std::pow(width, digits)); };
  std::set<int> reached;
  for (int to = 0; to < nodes; ++to) {
    if (to / power(hops - hop) != from / power(hops - hop) || to == from) continue;
    const int weight = power(hops - 1 - hop);
    const int via = from / (weight * width) * (weight * width) + to / weight % width * weight + from % weight;
    reached.insert(hop == hops - 1 || via >= nodes ? to : via);
  }
  reached.erase(from);
  std::vector<node_id> result;
  for (const int node : reached) result.emplace_back(node);
  return result;
}

channel_counts most_one_by_one(const job& j, const route& way, int hop) {
  channel_counts all;
  const auto raise = [](std::size_t& most, auto count) { most = std::max(most, static_cast<std::size_t>(count)); };
  for (int i = 0; i < j.pes; ++i) {
    const pe_id pe{i};
    const node_id here = j.places.node_of(pe);
    if (way.between_nodes(hop)) {
      const auto targets = way.targets(hop, here);
      raise(all.of_node, targets.size());
      raise(all.owned, std::ranges::count_if(targets, [&](node_id to) { return way.owner(here, to) == pe; }));
      raise(all.received,
            std::ranges::count_if(way.sources(hop, here), [&](node_id from) { return way.owner(here, from) == pe; }));
    } else {
      const auto targets = way.targets(hop, pe), sources = way.sources(hop, pe);
      const auto intra_node = [&](pe_id other) { return j.places.node_of(other) == here; };
      const auto intra_node_sources = std::ranges::count_if(sources, intra_node);
      raise(all.intra_node_sources, intra_node_sources);
      raise(all.inter_node_sources, std::ssize(sources) - intra_node_sources);
      raise(all.targets, targets.size());
      raise(all.inter_node_targets, std::ssize(targets) - std::ranges::count_if(targets, intra_node));
    }
  }
  return all;
}

// Indices count from 0 without a gap.
void expect_all_places(std::vector<std::size_t> places) {
  std::ranges::sort(places);
  for (std::size_t i = 0; i < places.size(); ++i) ASSERT_EQ(places[i], i);
}

template <class F>
void for_every_hop(F&& f) {
  for (const job& j : many_layouts())
    for (const scheme how : schemes) {
      const route way(j.places, j.pes, how);
      for (int hop = 0; hop < way.hops(); ++hop) f(j, how, way, hop);
    }
}

TEST(channels, of_a_grid_are_those_that_items_take) {
  for (int nodes = 1; nodes <= 70; ++nodes) {
    const job j = in_order(std::vector<int>(static_cast<std::size_t>(nodes), 1));
    for (int hops = 1; hops <= 3; ++hops) {
      const route way(j.places, j.pes, {buffering::per_node, hops});
      for (int hop = 0; hop < hops; ++hop) {
        std::vector<std::vector<node_id>> sources(static_cast<std::size_t>(nodes));
        for (int from = 0; from < nodes; ++from) {
          const auto targets = targets_one_by_one(nodes, hops, hop, from);
          ASSERT_EQ(way.targets(hop, node_id{from}), targets) << nodes << " " << hops << " " << hop;
          for (const node_id to : targets) sources[static_cast<std::size_t>(to.index())].emplace_back(from);
        }
        for (int to = 0; to < nodes; ++to)
          ASSERT_EQ(way.sources(hop, node_id{to}), sources[static_cast<std::size_t>(to)]);
      }
    }
  }
}

TEST(channels, the_most_of_a_pe_is_what_counting_them_says_so_buffers_are_chosen_alike) {
  for_every_hop([](const job& j, scheme how, const route& way, int hop) {
    ASSERT_EQ(way.most_channels(hop), most_one_by_one(j, way, hop))
        << j.pes << " PEs on " << j.places.nodes() << " nodes, hops " << how.hops << ", hop " << hop;
  });
}

TEST(channels, both_ends_know_the_places_of_a_lane_and_no_two_share_one) {
  for_every_hop([](const job& j, scheme, const route& way, int hop) {
    if (way.between_nodes(hop)) {
      for (int node = 0; node < j.places.nodes(); ++node)
        for (const pe_id owner : j.places.members(node_id{node})) {
          std::vector<std::size_t> sent, received;
          for (const node_id to : way.targets(hop, node_id{node}))
            if (way.owner(node_id{node}, to) == owner) sent.push_back(way.index_at_source(hop, node_id{node}, to));
          for (const node_id from : way.sources(hop, node_id{node}))
            if (way.owner(node_id{node}, from) == owner)
              received.push_back(way.index_at_target(hop, from, node_id{node}));
          expect_all_places(sent);
          expect_all_places(received);
        }
      return;
    }
    std::vector<std::vector<std::size_t>> at_source(static_cast<std::size_t>(j.pes));  // of the channel to each PE
    for (int from = 0; from < j.pes; ++from) {
      const auto targets = way.targets(hop, pe_id{from});
      const auto places = way.indices_of_targets(hop, pe_id{from}, targets);
      expect_all_places(places);
      for (std::size_t i = 0; i < targets.size(); ++i)
        at_source[static_cast<std::size_t>(targets[i].index())].push_back(places[i]);
    }
    for (int to = 0; to < j.pes; ++to) {
      const auto sources = way.sources(hop, pe_id{to});
      ASSERT_EQ(way.indices_at_sources(hop, sources, pe_id{to}), at_source[static_cast<std::size_t>(to)]);
      std::vector<std::size_t> intra_node, inter_node;
      for (const pe_id from : sources)
        (j.places.node_of(from) == j.places.node_of(pe_id{to}) ? intra_node : inter_node)
            .push_back(way.index_at_target(hop, from, pe_id{to}));
      expect_all_places(intra_node);
      expect_all_places(inter_node);
    }
  });
}

// The bytes allocated by everything that one PE needs from a route to make its hops.
std::size_t bytes_to_make(const job& j, scheme how) {
  const std::size_t before = allocated;
  const route way(j.places, j.pes, how);
  const pe_id me{j.pes / 2};
  const node_id here = j.places.node_of(me);
  for (int hop = 0; hop < way.hops(); ++hop) {
    (void)way.most_channels(hop);
    if (way.between_nodes(hop)) {
      for (const node_id to : way.targets(hop, here))
        (void)(way.index_at_source(hop, here, to) + way.index_at_target(hop, here, to));
      for (const node_id from : way.sources(hop, here))
        (void)(way.index_at_source(hop, from, here) + way.index_at_target(hop, from, here));
    } else {
      const auto targets = way.targets(hop, me), sources = way.sources(hop, me);
      (void)way.indices_of_targets(hop, me, targets);
      (void)way.indices_at_sources(hop, sources, me);
      for (const pe_id to : targets) (void)way.index_at_target(hop, me, to);
    }
  }
  return allocated - before;
}

TEST(channels, memory_to_find_them_is_of_the_order_of_the_pes) {
  for (const int pes : {4096, 65'536})
    for (const int on_a_node : {1, 64})
      for (const scheme how : schemes) {
        const job j = in_order(std::vector<int>(static_cast<std::size_t>(pes / on_a_node), on_a_node));
        EXPECT_LE(bytes_to_make(j, how), 150U * static_cast<std::size_t>(pes))
            << pes << " PEs, " << on_a_node << " on a node, hops " << how.hops;
      }
}

}  // namespace
}  // namespace lull::aggregate
