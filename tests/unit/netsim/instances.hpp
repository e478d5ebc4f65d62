// Networks for tests of paths: small ones of each topology with extreme parameters, and the presets.
#pragma once
#include <array>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "netsim/topology.hpp"

namespace lull::netsim {

struct instance {
  std::string name;
  std::string topology;
  netsim::parameters parameters;
  [[nodiscard]] std::unique_ptr<shape> build() const { return find_topology(topology).build(parameters); }
  friend void PrintTo(const instance& i, std::ostream* out) { *out << i.name; }
};

inline constexpr std::array all_algorithms{algorithm::minimal, algorithm::minimal_random, algorithm::valiant,
                                           algorithm::adaptive, algorithm::power_aware};

// The small networks that the topologies name.
inline std::vector<instance> named_small_instances() {
  std::vector<instance> result;
  for (const topology_entry& t : all_topologies()) {
    std::string name = std::string(t.name) + "_small";
    for (char& c : name) c = c == '-' ? '_' : c;
    result.push_back({std::move(name), t.name, t.small});
  }
  return result;
}

inline std::vector<instance> small_instances() {
  const auto dragonfly = [](std::int64_t routers, std::int64_t nodes, std::int64_t globals, std::int64_t groups) {
    return parameters{
        {"routers", {routers}}, {"nodes_per_router", {nodes}}, {"globals", {globals}}, {"groups", {groups}}};
  };
  const auto rows = [](std::int64_t high, std::int64_t wide, std::int64_t row_cables, std::int64_t column_cables,
                       std::int64_t globals, std::int64_t groups) {
    return parameters{{"rows", {high}},
                      {"columns", {wide}},
                      {"row_cables", {row_cables}},
                      {"column_cables", {column_cables}},
                      {"nodes_per_router", {2}},
                      {"globals", {globals}},
                      {"groups", {groups}}};
  };
  const auto hyperx = [](std::vector<std::int64_t> sizes, std::vector<std::int64_t> cables, std::int64_t nodes) {
    return parameters{{"dimensions", std::move(sizes)}, {"cables", std::move(cables)}, {"nodes_per_switch", {nodes}}};
  };
  std::vector<instance> all{
      {"fat_tree_full", "fat-tree", {{"radix", {4}}}},
      {"fat_tree_few_pods", "fat-tree", {{"radix", {8}}, {"pods", {3}}}},
      {"fat_tree_one_pod", "fat-tree", {{"radix", {6}}, {"pods", {1}}}},
      {"fat_tree_tapered", "fat-tree", {{"radix", {8}}, {"pods", {4}}, {"nodes_per_edge", {6}}}},
      {"dragonfly_full", "dragonfly", dragonfly(4, 2, 2, 0)},
      {"dragonfly_one_global", "dragonfly", dragonfly(4, 1, 1, 0)},
      {"dragonfly_few_groups", "dragonfly", dragonfly(6, 1, 3, 4)},
      {"dragonfly_uneven", "dragonfly", dragonfly(5, 1, 3, 7)},
      {"dragonfly_uneven_even_groups", "dragonfly", dragonfly(5, 1, 3, 6)},
      {"dragonfly_free_port", "dragonfly", dragonfly(3, 1, 3, 5)},
      {"dragonfly_two_groups", "dragonfly", dragonfly(4, 1, 2, 2)},
      {"dragonfly_three_groups", "dragonfly", dragonfly(4, 1, 4, 3)},
      {"dragonfly_one_group", "dragonfly", dragonfly(5, 2, 1, 1)},
      {"dragonfly_one_router_each", "dragonfly", dragonfly(1, 2, 4, 5)},
      {"dragonfly_rows_even", "dragonfly-rows", rows(3, 4, 1, 2, 4, 5)},
      {"dragonfly_rows_sparse", "dragonfly-rows", rows(3, 4, 1, 1, 1, 5)},
      {"dragonfly_rows_full", "dragonfly-rows", rows(2, 3, 2, 1, 1, 0)},
      {"dragonfly_rows_one_row", "dragonfly-rows", rows(1, 4, 1, 1, 2, 4)},
      {"dragonfly_rows_one_column", "dragonfly-rows", rows(4, 1, 1, 1, 2, 4)},
      {"dragonfly_rows_one_group", "dragonfly-rows", rows(3, 3, 1, 2, 0, 1)},
      {"hyperx_line", "hyperx", hyperx({5}, {2}, 3)},
      {"hyperx_plane", "hyperx", hyperx({4, 3}, {1, 2}, 2)},
      {"hyperx_cube", "hyperx", hyperx({3, 2, 4}, {1, 2, 1}, 1)},
      {"hyperx_flat_side", "hyperx", hyperx({3, 1, 3}, {1}, 1)},
      {"hyperx_four_dimensions", "hyperx", hyperx({2, 3, 2, 2}, {1}, 1)},
      {"hyperx_one_switch", "hyperx", hyperx({1}, {1}, 4)},
      {"leaf_spine_tapered",
       "leaf-spine",
       {{"leaves", {5}}, {"nodes_per_leaf", {6}}, {"spines", {2}}, {"cables", {2}}}},
      {"leaf_spine_one_leaf", "leaf-spine", {{"leaves", {1}}, {"nodes_per_leaf", {3}}, {"spines", {1}}}},
      {"torus_ring", "torus", {{"dimensions", {7}}}},
      {"torus_even_ring", "torus", {{"dimensions", {8}}, {"nodes_per_switch", {2}}}},
      {"torus_short_rings", "torus", {{"dimensions", {2, 3, 1, 2}}}},
      {"torus_plane", "torus", {{"dimensions", {4, 5}}}},
      {"torus_cube", "torus", {{"dimensions", {4, 3, 4}}}},
      {"torus_thin", "torus", {{"dimensions", {1, 6, 2}}}},
      {"torus_four_dimensions", "torus", {{"dimensions", {2, 4, 2, 3}}}},
  };
  for (instance& i : named_small_instances()) all.push_back(std::move(i));
  return all;
}

inline std::vector<instance> presets() {
  std::vector<instance> result;
  for (const preset_of& p : all_presets()) {
    std::string name = p.is->name;
    for (char& c : name) c = c == '-' ? '_' : c;
    result.push_back({std::move(name), p.of->name, p.is->parameters});
  }
  return result;
}

inline std::vector<instance> all_instances() {
  std::vector<instance> result = small_instances();
  for (instance& i : presets()) result.push_back(std::move(i));
  return result;
}

// The path of one packet, switch by switch.
struct step {
  std::uint32_t at;
  hop by;
};
inline std::vector<step> steps_of(const shape& network, std::uint32_t from, const std::vector<hop>& path) {
  std::vector<step> result;
  std::uint32_t at = network.attach_point(from).id;
  for (const hop& h : path) {
    result.push_back({at, h});
    at = network.peer(at, h.port).id;
  }
  return result;
}

}  // namespace lull::netsim
