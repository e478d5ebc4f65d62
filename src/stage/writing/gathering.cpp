#include "stage/writing/gathering.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lull::stage {

std::vector<gathering::batch> gathering::add(write_order one) {
  const std::uint64_t turn = turn_of(one);
  std::uint64_t& reached = reached_[one.client];
  reached = std::max(reached, turn);
  pending_[turn].push_back(std::move(one));
  return complete();
}

std::uint64_t gathering::turn_of(const write_order& one) {
  constexpr std::size_t most_known = 1024;  // clients this far behind do not matter
  if (turns_.size() >= most_known && !turns_.contains(one.together))
    turns_.erase(std::ranges::min_element(turns_, {}, [](const auto& known) { return known.second.number; }));
  auto [place, is_new] = turns_.try_emplace(one.together);
  turn& found = place->second;
  if (is_new || found.clients.contains(one.client)) found = {++next_turn_, {}};
  found.clients.insert(one.client);
  return found.number;
}

std::vector<gathering::batch> gathering::release_for(int client, std::uint64_t before) {
  std::vector<batch> now;
  for (auto entry = pending_.begin(); entry != pending_.end();) {
    batch& orders = entry->second;
    const auto its = std::ranges::find(orders, client, &write_order::client);
    const bool waited_for = its != orders.end() && its->number < before;
    if (waited_for) now.push_back(std::move(orders));
    entry = waited_for ? pending_.erase(entry) : std::next(entry);
  }
  return now;
}

std::vector<gathering::batch> gathering::end_of(int client) {
  active_.erase(client);
  return complete();
}

std::vector<gathering::batch> gathering::end_of_all() {
  active_.clear();
  return complete();
}

std::vector<gathering::batch> gathering::complete() {
  std::uint64_t all_reached = next_turn_;
  for (const int client : active_) {
    const auto found = reached_.find(client);
    all_reached = std::min(all_reached, found == reached_.end() ? 0 : found->second);
  }
  std::vector<batch> now;
  while (!pending_.empty() && pending_.begin()->first <= all_reached) {
    now.push_back(std::move(pending_.begin()->second));
    pending_.erase(pending_.begin());
  }
  return now;
}

}  // namespace lull::stage
