// The simulator's skeletons of irregular applications send over the same channels as the aggregator.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "aggregate/channels/route.hpp"
#include "netsim/skeletons/item_paths.hpp"

namespace lull::aggregate {
namespace {

std::vector<std::uint32_t> sorted_others(const std::vector<netsim::item_paths::channel>& channels) {
  std::vector<std::uint32_t> others;
  for (const auto& c : channels) others.push_back(c.other);
  std::ranges::sort(others);
  return others;
}

// The targets of `pe`'s channels in a hop; for channels between nodes, of those that it owns.
std::vector<std::uint32_t> targets_of(const route& way, const job::layout& places, int hop, pe_id pe) {
  std::vector<std::uint32_t> others;
  const node_id here = places.node_of(pe);
  if (way.between_nodes(hop)) {
    for (const node_id there : way.targets(hop, here))
      if (way.owner(here, there) == pe) others.push_back(static_cast<std::uint32_t>(way.owner(there, here).index()));
  } else {
    for (const pe_id to : way.targets(hop, pe))
      if (to != pe) others.push_back(static_cast<std::uint32_t>(to.index()));
  }
  std::ranges::sort(others);
  return others;
}

// A number of nodes with equally many PEs each, for the aggregator and for the simulator.
struct shape {
  shape(int nodes_wanted, int on_node_wanted)
      : nodes(nodes_wanted), on_node(on_node_wanted), layout(places_of(nodes, on_node), pe_id{0}) {
    for (int pe = 0; pe < pes(); ++pe) numbers.push_back(static_cast<std::uint32_t>(pe / on_node));
  }
  [[nodiscard]] int pes() const { return nodes * on_node; }
  [[nodiscard]] std::string name() const { return std::to_string(nodes) + " nodes of " + std::to_string(on_node); }

  int nodes, on_node;
  job::layout layout;
  std::vector<std::uint32_t> numbers;

 private:
  static std::vector<job::place> places_of(int nodes, int on_node) {
    std::vector<job::place> places;
    for (int pe = 0; pe < nodes * on_node; ++pe) places.push_back({pe / on_node * on_node, 0});
    return places;
  }
};

// The channels that an item takes, with their hops: {hop, from, to}.
using channel_of_hop = std::tuple<int, std::uint32_t, std::uint32_t>;
std::vector<channel_of_hop> path_of(const route& way, const job::layout& layout, pe_id from, pe_id to) {
  std::vector<channel_of_hop> path;
  pe_id at = from;
  for (int hop = 0; hop < way.hops(); ++hop) {
    const route::step step = way.next(hop, at, to);
    hop = step.hop;
    pe_id begin = at, end = step.next;
    if (way.between_nodes(hop)) {
      const node_id here = layout.node_of(at), there = layout.node_of(step.next);
      begin = way.owner(here, there);
      end = way.owner(there, here);
    }
    if (begin != end)
      path.emplace_back(hop, static_cast<std::uint32_t>(begin.index()), static_cast<std::uint32_t>(end.index()));
    at = end;
  }
  EXPECT_EQ(at, to);
  return path;
}

std::vector<scheme> all_schemes() {
  std::vector<scheme> all;
  for (const buffering buffers : {buffering::per_pe, buffering::per_node})
    for (int hops = 1; hops <= 3; ++hops) all.push_back({buffers, hops});
  return all;
}

TEST(skeletons_of_applications, send_along_the_paths_of_items_in_the_aggregator) {
  for (const int nodes : {1, 2, 3, 5, 8, 9, 11, 27})
    for (const int on_node : {1, 2, 3, 4}) {
      const shape on(nodes, on_node);
      for (const scheme how : all_schemes()) {
        const route way(on.layout, on.pes(), how);
        const netsim::item_paths paths(on.numbers, how);
        std::set<channel_of_hop> simulated, taken;
        for (std::uint32_t hop = 0; hop < paths.hops(); ++hop)
          for (std::uint32_t rank = 0; rank < on.numbers.size(); ++rank)
            for (const auto& c : paths.leaving(hop, rank)) simulated.emplace(static_cast<int>(hop), rank, c.other);
        for (int from = 0; from < on.pes(); ++from)
          for (int to = 0; to < on.pes(); ++to)
            for (const channel_of_hop& one : path_of(way, on.layout, pe_id{from}, pe_id{to})) taken.insert(one);
        EXPECT_TRUE(std::ranges::includes(simulated, taken)) << on.name() << ", " << how.hops << " hops";
      }
    }
}

// Where nodes fill their grid, the load of a channel is exact.
TEST(skeletons_of_applications, send_on_each_channel_what_items_to_all_alike_put_there) {
  for (const int hops : {1, 2, 3})
    for (const int width : {1, 2, 3})
      for (const int on_node : {1, 2, 3, 4}) {
        const shape on(hops == 1 ? width : hops == 2 ? width * width : width * width * width, on_node);
        for (const buffering buffers : {buffering::per_pe, buffering::per_node}) {
          const route way(on.layout, on.pes(), {buffers, hops});
          const netsim::item_paths paths(on.numbers, {buffers, hops});
          std::map<channel_of_hop, double> carried;
          for (int from = 0; from < on.pes(); ++from)
            for (int to = 0; to < on.pes(); ++to)
              for (const channel_of_hop& one : path_of(way, on.layout, pe_id{from}, pe_id{to}))
                carried[one] += 1.0 / on.pes();
          for (std::uint32_t hop = 0; hop < paths.hops(); ++hop)
            for (std::uint32_t rank = 0; rank < on.numbers.size(); ++rank)
              for (const auto& c : paths.leaving(hop, rank))
                EXPECT_NEAR(c.share, (carried[{static_cast<int>(hop), rank, c.other}]), 1e-12)
                    << on.name() << ", " << hops << " hops, hop " << hop << ", from " << rank << " to " << c.other;
        }
      }
}

TEST(skeletons_of_applications, have_the_channels_of_the_aggregator) {
  for (const int nodes : {1, 2, 5, 9, 11, 27})
    for (const int on_node : {1, 2, 3, 4}) {
      const shape on(nodes, on_node);
      const job::layout& layout = on.layout;
      for (const buffering buffers : {buffering::per_pe, buffering::per_node})
        for (int hops = 1; hops <= 3; ++hops) {
          const route way(layout, nodes * on_node, {buffers, hops});
          const netsim::item_paths paths(on.numbers, {buffers, hops});
          ASSERT_EQ(paths.hops(), static_cast<std::uint32_t>(way.hops()));
          EXPECT_EQ(paths.addressed(), !way.is_direct());
          for (int hop = 0; hop < way.hops(); ++hop)
            for (int pe = 0; pe < nodes * on_node; ++pe)
              EXPECT_EQ(sorted_others(paths.leaving(static_cast<std::uint32_t>(hop), static_cast<std::uint32_t>(pe))),
                        targets_of(way, layout, hop, pe_id{pe}))
                  << nodes << " nodes of " << on_node << ", " << hops << " hops, hop " << hop << ", PE " << pe;
        }
    }
}

}  // namespace
}  // namespace lull::aggregate
