#include "stage/gathering.hpp"

#include <algorithm>
#include <utility>

namespace lull::stage {

std::vector<gathering::batch> gathering::add(write_order one) {
  std::vector<batch> now;
  auto place = std::ranges::find(pending_, one.together, &pending::name);
  if (place != pending_.end() && place->heard_of.contains(one.client)) {  // the same once more: after the first
    now.push_back(std::move(place->orders));
    pending_.erase(place);
    place = pending_.end();
  }
  if (place == pending_.end()) place = pending_.insert(pending_.end(), {one.together, {}, {}});
  for (auto earlier = pending_.begin(); earlier <= place; ++earlier) earlier->heard_of.insert(one.client);
  place->orders.push_back(std::move(one));
  for (batch& each : complete()) now.push_back(std::move(each));
  return now;
}

std::vector<gathering::batch> gathering::release_for(int client) {
  std::vector<batch> now;
  std::erase_if(pending_, [&](pending& one) {
    const bool has_part = std::ranges::find(one.orders, client, &write_order::client) != one.orders.end();
    if (has_part) now.push_back(std::move(one.orders));
    return has_part;
  });
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
  std::vector<batch> now;
  std::erase_if(pending_, [&](pending& one) {
    const bool all = std::ranges::includes(one.heard_of, active_);
    if (all) now.push_back(std::move(one.orders));
    return all;
  });
  return now;
}

}  // namespace lull::stage
