#include "netsim/topology.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "netsim/memory.hpp"

namespace lull::netsim {

// The table of topologies: each is the file of that name in topology/, and defines NAME_entry().
// clang-format off
#define LULL_TOPOLOGIES(row) \
  row(fat_tree) \
  row(dragonfly) \
  row(dragonfly_rows) \
  row(hyperx) \
  row(torus) \
  row(leaf_spine)
// clang-format on

#define LULL_DECLARE(name) topology_entry name##_entry();
LULL_TOPOLOGIES(LULL_DECLARE)
#undef LULL_DECLARE

std::span<const topology_entry> all_topologies() {
#define LULL_ENTRY(name) name##_entry(),
  static const std::vector<topology_entry> table{LULL_TOPOLOGIES(LULL_ENTRY)};
#undef LULL_ENTRY
  return table;
}

std::vector<preset_of> all_presets() {
  std::vector<preset_of> all;
  for (const topology_entry& t : all_topologies())
    for (const preset& p : t.presets) all.push_back({&p, &t});
  return all;
}

const topology_entry& find_topology(const std::string& name) {
  std::vector<std::string> names;
  for (const topology_entry& e : all_topologies()) {
    if (name == e.name) return e;
    names.emplace_back(e.name);
  }
  throw usage_error("read topology.name", fmt::format("there is no topology '{}'", name), nearest(name, names));
}

std::unique_ptr<shape> build(const topology_entry& of, const netsim::parameters& with) {
  return within_memory(fmt::format("build the {}", of.name), [&] { return of.build(with); });
}

std::vector<unsigned> topology_reader::list(const char* name, std::size_t same) const {
  const key& k = *find(keys_, name);
  const auto given = given_.find(name);
  value v = k.by_default;
  if (given != given_.end()) v = k.list || given->second.size() != 1 ? list_of(given->second) : given->second.front();
  std::vector<unsigned> result;
  const position at{fmt::format("build the {}", topology_), "topology"};
  for (const std::int64_t one : numbers_of(checked(k, v, at))) result.push_back(static_cast<unsigned>(one));
  if (result.size() == 1) result.resize(same, result.front());
  return result;
}

unsigned topology_reader::one(const char* name, std::int64_t most) const {
  const unsigned found = list(name).front();
  if (found > most) require(false, name, fmt::format("be at most {}, not {}", most, found));
  return found;
}

void topology_reader::require(bool holds, const char* name, const char* rule, std::int64_t bound) const {
  if (!holds) require(false, name, fmt::format("{} {}", rule, bound));
}

void topology_reader::require(bool holds, const char* name, const std::string& rule) const {
  if (!holds) throw usage_error(fmt::format("build the {}", topology_), fmt::format("topology.{} must {}", name, rule));
}

}  // namespace lull::netsim
