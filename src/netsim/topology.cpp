#include "netsim/topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.hpp"

namespace lull::netsim {

// Each is defined in its file in topology/.
topology_entry fat_tree_entry();
topology_entry dragonfly_entry();
topology_entry dragonfly_rows_entry();
topology_entry hyperx_entry();
topology_entry torus_entry();

std::span<const topology_entry> all_topologies() {
  static const std::array table{fat_tree_entry(), dragonfly_entry(), dragonfly_rows_entry(), hyperx_entry(),
                                torus_entry()};
  return table;
}

std::span<const preset> all_presets() {
  static const std::array table{
      preset{"fat-tree-4608",
             "fat-tree",
             "4,608 nodes: 8 pods of 24 edge and 24 aggregation switches, 96 core, radix 48",
             {{"radix", {48}}, {"pods", {8}}}},
      preset{"dragonfly-4608",
             "dragonfly",
             "4,608 nodes: 16 groups of 24 routers of 12 nodes, 12 global cables, radix 47",
             {{"routers", {24}}, {"nodes_per_router", {12}}, {"globals", {12}}, {"groups", {16}}}},
      preset{"dragonfly-rows-4608",
             "dragonfly-rows",
             "4,608 nodes: 6 groups of 6 x 16 routers of 8 nodes, cables 1 and 3, 10 global cables, radix 48",
             {{"rows", {6}},
              {"columns", {16}},
              {"row_cables", {1}},
              {"column_cables", {3}},
              {"nodes_per_router", {8}},
              {"globals", {10}},
              {"groups", {6}}}},
      preset{"hyperx-4608",
             "hyperx",
             // 1, 2, 3 uses all 48 ports and carries uniform traffic up to 2/3 load by minimal ways; 2, 2, 1 up to 1/2.
             "4,608 nodes: 8 x 8 x 6 switches of 12 nodes, cables 1, 2, 3, radix 48",
             {{"dimensions", {8, 8, 6}}, {"cables", {1, 2, 3}}, {"nodes_per_switch", {12}}}},
      preset{"torus-4608",
             "torus",
             "4,608 nodes: 16 x 16 x 18 switches of one node, radix 7",
             {{"dimensions", {16, 16, 18}}, {"nodes_per_switch", {1}}}},
      preset{"fat-tree-65536", "fat-tree", "65,536 nodes: the full tree of radix 64", {{"radix", {64}}}},
  };
  return table;
}

const topology_entry& find_topology(const std::string& name) {
  const auto found = std::ranges::find_if(all_topologies(), [&](const topology_entry& e) { return name == e.name; });
  if (found != all_topologies().end()) return *found;
  std::vector<std::string_view> names;
  for (const topology_entry& e : all_topologies()) names.emplace_back(e.name);
  throw usage_error("read topology.name", fmt::format("there is no topology '{}'", name),
                    fmt::format("there are {}", fmt::join(names, ", ")));
}

const std::vector<std::int64_t>& reader::value(const char* name) const {
  if (const auto found = given_.find(name); found != given_.end()) return found->second;
  return std::ranges::find_if(known_, [&](const parameter& p) { return std::string_view(name) == p.name; })
      ->default_value;
}

unsigned reader::one(const char* name, std::int64_t low, std::int64_t high) const {
  require(value(name).size() == 1, name, "be one number, not a list");
  return list(name, low, high).front();
}

std::vector<unsigned> reader::list(const char* name, std::int64_t low, std::int64_t high, std::size_t same) const {
  const std::vector<std::int64_t>& found = value(name);
  std::vector<unsigned> result;
  for (const std::int64_t v : found) {
    require(low <= v && v <= high, name, fmt::format("lie in {}..{}, not be {}", low, high, v));
    result.push_back(static_cast<unsigned>(v));
  }
  require(!result.empty(), name, "not be empty");
  if (result.size() == 1) result.resize(same, result.front());
  return result;
}

void reader::require(bool holds, const char* name, const char* rule, std::int64_t bound) const {
  if (!holds) require(false, name, fmt::format("{} {}", rule, bound));
}

void reader::require(bool holds, const char* name, const std::string& rule) const {
  if (!holds) throw usage_error(fmt::format("build the {}", topology_), fmt::format("topology.{} must {}", name, rule));
}

}  // namespace lull::netsim
