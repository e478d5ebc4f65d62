#include "netsim/skeletons/item_paths.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "model/costs/node_grid.hpp"

namespace lull::netsim {
namespace {

// Renumbers the nodes from 0, in the order of their first processes.
std::vector<std::uint32_t> numbered(std::span<const std::uint32_t> nodes) {
  std::map<std::uint32_t, std::uint32_t> numbers;
  std::vector<std::uint32_t> result;
  for (const std::uint32_t node : nodes)
    result.push_back(numbers.try_emplace(node, static_cast<std::uint32_t>(numbers.size())).first->second);
  return result;
}

std::vector<std::vector<std::uint32_t>> members_of(const std::vector<std::uint32_t>& node_of_rank) {
  std::vector<std::vector<std::uint32_t>> members(1 + *std::ranges::max_element(node_of_rank));
  for (std::uint32_t rank = 0; rank < node_of_rank.size(); ++rank) members[node_of_rank[rank]].push_back(rank);
  return members;
}

}  // namespace

bool item_paths::nodes_are_equal(std::span<const std::uint32_t> nodes) {
  const auto members = members_of(numbered(nodes));
  return std::ranges::all_of(members, [&](const auto& m) { return m.size() == members.front().size(); });
}

item_paths::item_paths(std::span<const std::uint32_t> nodes, model::item_scheme how)
    : how_(how),
      kinds_(model::hop_kinds_of(how)),
      node_(numbered(nodes)),
      local_(nodes.size()),
      members_(members_of(node_)) {
  for (const auto& on_one : members_)
    for (std::uint32_t local = 0; local < on_one.size(); ++local) local_[on_one[local]] = local;
}

std::vector<std::uint32_t> item_paths::nodes_of(std::uint32_t hop, std::uint32_t rank, bool leaving) const {
  const std::uint32_t here = node_[rank];
  std::vector<std::uint32_t> result;
  const auto add = [&](std::uint32_t node) {
    if (node != here && owner_of(node) == local_[rank]) result.push_back(node);
  };
  if (kinds_[hop] == kind::across_shared) {
    for (std::uint32_t node = 0; node < nodes(); ++node) add(node);
    return result;
  }
  const model::node_grid grid(static_cast<int>(nodes()), how_.hops);
  const auto add_range = [&](model::node_range r) {
    for (int node = r.begin; node < r.end; ++node) add(static_cast<std::uint32_t>(node));
    return true;
  };
  if (leaving)
    grid.visit_targets(static_cast<int>(hop), static_cast<int>(here), add_range);
  else
    grid.visit_sources(static_cast<int>(hop), static_cast<int>(here), add_range);
  std::ranges::sort(result);
  return result;
}

double item_paths::share(std::uint32_t hop, std::uint32_t from, std::uint32_t to) const {
  const double each_node = 1.0 / nodes();
  const double each_process = each_node / on_node();
  // The number of nodes to which (and from which) the process owns its node's channels.
  const auto held_by = [&](std::uint32_t rank) {
    const std::uint32_t rest = local_[rank];
    const std::uint32_t all = nodes() > rest ? (nodes() - rest - 1) / on_node() + 1 : 0;
    return all - (owner_of(node_[rank]) == rest ? 1 : 0);
  };
  switch (kinds_[hop]) {
    case kind::all:
      return each_process;
    case kind::across:
      return each_node;
    case kind::across_shared:
      return on_node() * each_node;
    case kind::nodes:
      return on_node() * each_node *
             std::pow(model::node_grid(static_cast<int>(nodes()), how_.hops).width(), how_.hops - 1);
    case kind::inside:
      break;
  }
  if (how_.buffers == model::buffering::per_pe) {
    if (how_.hops == 2) return 1.0 / on_node();
    return hop == 0 ? held_by(to) * each_node + each_process : held_by(from) * each_node;
  }
  // What the node's own processes push, and what came to `from` by each earlier hop and goes no further.
  double result = each_process;
  const double width = model::node_grid(static_cast<int>(nodes()), how_.hops).width();
  for (std::uint32_t before = 0; before < hop; ++before)
    result += static_cast<double>(nodes_of(before, from, false).size()) * std::pow(width, before) * each_node;
  return result;
}

std::vector<item_paths::channel> item_paths::between(std::uint32_t hop, std::uint32_t rank, bool leaving) const {
  std::vector<std::uint32_t> others;
  switch (kinds_[hop]) {
    case kind::all:
      for (std::uint32_t other = 0; other < node_.size(); ++other) others.push_back(other);
      break;
    case kind::inside:
      others = members_[node_[rank]];
      break;
    case kind::across:
      for (const auto& on_one : members_) others.push_back(on_one[local_[rank]]);
      break;
    case kind::across_shared:
    case kind::nodes:
      for (const std::uint32_t node : nodes_of(hop, rank, leaving))
        others.push_back(members_[node][owner_of(node_[rank])]);
      break;
  }
  std::erase(others, rank);
  std::ranges::sort(others);
  std::rotate(others.begin(), std::upper_bound(others.begin(), others.end(), rank), others.end());
  std::vector<channel> result;
  result.reserve(others.size());
  // Channels between ends of the same kind carry the same share, except inside a node.
  const bool alike = kinds_[hop] != kind::inside;
  for (const std::uint32_t other : others)
    result.push_back({other, alike && !result.empty() ? result.front().share
                             : leaving                ? share(hop, rank, other)
                                                      : share(hop, other, rank)});
  return result;
}

std::vector<item_paths::channel> item_paths::leaving(std::uint32_t hop, std::uint32_t rank) const {
  return between(hop, rank, true);
}

std::vector<item_paths::channel> item_paths::arriving(std::uint32_t hop, std::uint32_t rank) const {
  return between(hop, rank, false);
}

}  // namespace lull::netsim
