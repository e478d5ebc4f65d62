#include "netsim/program/waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "netsim/counted.hpp"

namespace lull::netsim {
namespace {

constexpr std::size_t most_named = 6;

// The ranks of one cycle, beginning with the lowest. Each process waits for at most one other, so a walk from a process
// ends, meets an earlier walk, or closes a cycle.
std::vector<std::uint32_t> circle(std::span<const process_wait> waits) {
  std::vector<std::uint32_t> walk_of(waits.size(), 0);
  for (std::uint32_t begin = 0; begin < waits.size(); ++begin) {
    const std::uint32_t walk = begin + 1;
    std::uint32_t at = begin;
    while (at < waits.size() && !waits[at].what.empty() && walk_of[at] == 0) {
      walk_of[at] = walk;
      at = waits[at].on;
    }
    if (at >= waits.size() || walk_of[at] != walk || waits[at].what.empty()) continue;
    std::vector<std::uint32_t> ranks{at};
    for (std::uint32_t next = waits[at].on; next != at; next = waits[next].on) ranks.push_back(next);
    std::rotate(ranks.begin(), std::ranges::min_element(ranks), ranks.end());
    return ranks;
  }
  return {};
}

}  // namespace

std::string in_words(std::span<const process_wait> waits) {
  const auto waiting =
      static_cast<std::size_t>(std::ranges::count_if(waits, [](const process_wait& w) { return !w.what.empty(); }));
  if (waiting == 0) return "";
  std::vector<std::uint32_t> named = circle(waits);
  const bool round = !named.empty();
  const auto on_ended = [&](std::uint32_t rank) {
    const std::uint32_t on = waits[rank].on;
    return on < waits.size() && waits[on].what.empty();
  };
  if (!round) {
    for (const bool ended : {true, false})
      for (std::uint32_t rank = 0; rank < waits.size() && named.size() < 3; ++rank)
        if (!waits[rank].what.empty() && on_ended(rank) == ended) named.push_back(rank);
  }
  std::string text = round ? fmt::format("in a circle of {}, ", named.size()) : "";
  for (std::size_t i = 0; i < std::min(named.size(), most_named); ++i)
    text += fmt::format("{}rank {} waits for {}{}", i == 0 ? "" : ", ", named[i], waits[named[i]].what,
                        on_ended(named[i]) ? ", which has ended" : "");
  if (named.size() > most_named) text += ", ...";
  if (waiting > named.size())
    text += fmt::format("; {}", counted(waiting - named.size(), "other waits", "others wait"));
  return text;
}

}  // namespace lull::netsim
