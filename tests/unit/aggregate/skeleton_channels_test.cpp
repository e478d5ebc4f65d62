// The simulator's skeletons of irregular applications send along the channels of the aggregator.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "aggregate/route.hpp"
#include "netsim/skeletons/item_paths.hpp"

namespace lull::aggregate {
namespace {

std::vector<std::uint32_t> sorted_others(const std::vector<netsim::item_paths::channel>& channels) {
  std::vector<std::uint32_t> others;
  for (const auto& c : channels) others.push_back(c.other);
  std::ranges::sort(others);
  return others;
}

// Those that `pe` has channels to in a hop; of channels between nodes, the ones it owns.
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

TEST(skeletons_of_applications, have_the_channels_of_the_aggregator) {
  for (const int nodes : {1, 2, 5, 9, 11, 27})
    for (const int on_node : {1, 2, 3, 4}) {
      std::vector<job::place> places;
      std::vector<std::uint32_t> numbers;
      for (int pe = 0; pe < nodes * on_node; ++pe) {
        places.push_back({pe / on_node * on_node, 0});
        numbers.push_back(static_cast<std::uint32_t>(pe / on_node));
      }
      const job::layout layout(places, pe_id{0});
      for (const buffering buffers : {buffering::per_pe, buffering::per_node})
        for (int hops = 1; hops <= 3; ++hops) {
          const route way(layout, nodes * on_node, {buffers, hops});
          const netsim::item_paths paths(numbers, {buffers == buffering::per_node, hops});
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
