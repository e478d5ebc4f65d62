#include "netsim/goal/graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "netsim/counted.hpp"

namespace lull::netsim {
namespace {

// The operations of one cycle of dependencies, each before one that depends on it; empty if there is none.
std::vector<std::uint32_t> cycle_in(const goal_rank& rank) {
  const auto count = static_cast<std::uint32_t>(rank.operations.size());
  std::vector<std::uint32_t> needs(count);
  std::vector<std::uint32_t> free;
  for (std::uint32_t i = 0; i < count; ++i)
    if ((needs[i] = rank.operations[i].needs) == 0) free.push_back(i);
  std::uint32_t ordered = 0;
  for (; !free.empty(); ++ordered) {
    const std::uint32_t i = free.back();
    free.pop_back();
    for (const goal_edge e : rank.edges_of(i))
      if (--needs[e.to()] == 0) free.push_back(e.to());
  }
  if (ordered == count) return {};
  // Each operation that is left depends on another one that is left: a walk back closes a cycle.
  std::vector<std::uint32_t> before(count, count);
  for (std::uint32_t i = 0; i < count; ++i)
    if (needs[i] > 0)
      for (const goal_edge e : rank.edges_of(i)) before[e.to()] = i;
  std::vector<bool> seen(count);
  auto at =
      static_cast<std::uint32_t>(std::ranges::find_if(needs, [](std::uint32_t n) { return n > 0; }) - needs.begin());
  for (; !seen[at]; at = before[at]) seen[at] = true;
  std::vector<std::uint32_t> cycle;
  const std::uint32_t last = at;
  do {
    cycle.push_back(at);
    at = before[at];
  } while (at != last);
  std::ranges::reverse(cycle);
  std::rotate(cycle.begin(), std::ranges::min_element(cycle), cycle.end());
  return cycle;
}

}  // namespace

std::span<const goal_edge> goal_rank::edges_of(std::uint32_t number) const {
  const std::size_t begin = operations[number].first;
  const std::size_t end = number + std::size_t{1} < operations.size() ? operations[number + 1].first : edges.size();
  return std::span(edges).subspan(begin, end - begin);
}

std::string goal_graph::place_of(std::uint32_t rank, std::uint32_t number) const {
  const std::uint32_t line = ranks[rank].operations[number].line;
  return line > 0 ? fmt::format("{}:{}", path, line) : fmt::format("{}, operation {} of rank {}", path, number, rank);
}

std::uint32_t goal_rank_builder::add(const goal_operation& o) {
  made_.operations.push_back(o);
  return count() - 1;
}

void goal_rank_builder::depend(std::uint32_t later, std::uint32_t earlier, goal_edge::when after) {
  from_.emplace_back(earlier, goal_edge(later, after));
  ++made_.operations[later].needs;
}

// Sorts the edges by counting: `first` is first the number of an operation's edges, then the end of its place, and
// after all are placed its begin.
goal_rank goal_rank_builder::finish() {
  for (const auto& [from, edge] : from_) ++made_.operations[from].first;
  std::uint32_t end = 0;
  for (goal_operation& o : made_.operations) o.first = end += o.first;
  made_.edges.resize(from_.size());
  for (auto one = from_.rbegin(); one != from_.rend(); ++one)
    made_.edges[--made_.operations[one->first].first] = one->second;
  from_.clear();
  goal_rank done = std::move(made_);
  made_ = {};
  done.operations.shrink_to_fit();
  return done;
}

void check_cycles(const goal_graph& all, std::uint32_t rank) {
  constexpr std::size_t most_named = 4;
  const std::vector<std::uint32_t> cycle = cycle_in(all.ranks[rank]);
  if (cycle.empty()) return;
  std::string text;
  for (std::size_t i = 0; i < std::min(cycle.size(), most_named); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", then ", all.place_of(rank, cycle[i]));
  throw error("read " + all.path,
              fmt::format("{} of rank {} wait for each other: {}{}", counted(cycle.size(), "operation"), rank, text,
                          cycle.size() > most_named ? ", ..." : ", and again the first"),
              "remove one of the dependencies");
}

}  // namespace lull::netsim
