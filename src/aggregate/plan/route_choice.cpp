#include "aggregate/plan/route_choice.hpp"

#include <algorithm>

#include "base/counted.hpp"

namespace lull::aggregate {

route_choice::route_choice(const plan& how, double making_ns, const model::correction_rules& rules, const items& of)
    : rules_(rules), items_in_one_(of.in_one), ways_(of.both_ways ? 2 : 1), stays_(rules.off) {
  for (const candidate& one : how.routes)
    routes_.push_back({one.how, of.turns * ways_ * one.found.ns_per_item, ways_ * one.found.ns_per_phase, 0});
  take(how.how, making_ns);
}

void route_choice::take(const scheme& how, double making_ns) {
  const auto at = std::ranges::find(routes_, how, &alternative::how);
  if (at == routes_.end()) return;
  taken_ = static_cast<std::size_t>(at - routes_.begin());
  price_ns_ = making_ns;
  for (alternative& one : routes_) one.lost_ns = 0;
}

void route_choice::phase_over(std::uint64_t most_pushed, std::int64_t ns) {
  const double items = static_cast<double>(most_pushed) / items_in_one_;
  ++phases_;
  if (now_.size() == most_seen) now_.erase(now_.begin());
  now_.push_back({items, ns});
  if (stays_) return;
  const double cost = routes_[taken_].ns_of(items), worth_changing = (1 - rules_.least_gain_of_a_route) * cost;
  for (alternative& one : routes_) one.lost_ns = std::max(0.0, one.lost_ns + worth_changing - one.ns_of(items));
}

std::optional<scheme> route_choice::wanted() const {
  if (stays_) return std::nullopt;
  const auto most = std::ranges::max_element(routes_, {}, &alternative::lost_ns);
  return most->lost_ns < price_ns_ ? std::nullopt : std::optional(most->how);
}

void route_choice::changed(const plan& how, double making_ns) {
  former_ = taken_;
  take(how.how, making_ns);
  before_ = std::exchange(now_, {});
  phases_before_ = std::exchange(phases_, 0);
  ++switches_;
}

// Phases of other sizes do not predict this one.
std::optional<double> route_choice::median_of_like(const std::vector<seen>& phases, double items) {
  std::vector<std::int64_t> ns;
  for (const seen& one : phases)
    if (one.items <= 2 * items && items <= 2 * one.items) ns.push_back(one.ns);
  if (ns.size() < fewest_seen) return std::nullopt;
  const auto middle = ns.begin() + static_cast<std::ptrdiff_t>(ns.size() / 2);
  std::ranges::nth_element(ns, middle);
  return static_cast<double>(*middle);
}

std::optional<route_choice::comparison> route_choice::compares() const {
  if (!former_ || phases_ < phases_to_tell) return std::nullopt;
  const double items = now_.back().items;
  const auto before = median_of_like(before_, items), since = median_of_like(now_, items);
  if (!before || !since) return std::nullopt;
  return comparison{items, *before, *since, phases_before_ >= new_to_memory + fewest_seen};
}

// The cost of ending a phase has been measured on both routes, so the difference is due to the items. If the earlier
// phases were slow because their memory was new, they are no baseline: then the whole duration of a phase now counts as
// the route's cost.
void route_choice::judge(const comparison& of_all) {
  alternative &now = routes_[taken_], &before = routes_[*former_];
  const double slower = of_all.since_ns - of_all.before_ns;
  if (of_all.items > 0) {
    const double takes = of_all.like ? before.ns_of(of_all.items) + slower : of_all.since_ns;
    now.ns_per_item = std::max(0.0, (takes - now.ns_per_phase) / of_all.items);
  }
  for (alternative& one : routes_) one.lost_ns = 0;
  if (slower > 0) before.lost_ns = price_ns_;
  former_.reset();
}

std::optional<model::choice_account> route_choice::account(const plan& how, std::uint64_t phases, std::uint64_t pushed,
                                                           double cpu_ns_per_item) const {
  if (how.routes.empty() || pushed == 0 || phases == 0) return std::nullopt;
  const double items = static_cast<double>(pushed) / items_in_one_;
  const double in_one = items / static_cast<double>(phases);
  const auto of_an_item = [&](const candidate& one) { return ways_ * one.found.ns_of(in_one) / in_one; };
  // The part of an item's cost that does not depend on the route is the same on all.
  const double observed = cpu_ns_per_item * items_in_one_, beside = observed - of_an_item(how.routes[how.taken]);
  model::choice_account made{.choice = "route", .per = "item", .switches = switches_};
  for (std::size_t i = 0; i < how.routes.size(); ++i) {
    const candidate& one = how.routes[i];
    const bool taken = i == how.taken;
    made.alternatives.push_back(
        {.name = (one.how.buffers == buffering::per_node ? "per-node, " : "per-pe, ") + counted(one.how.hops, "hop"),
         .predicted_ns = of_an_item(how.predicted[i]),
         .corrected_ns = taken ? of_an_item(one) : std::max(0.0, of_an_item(one) + beside)});
    if (!taken) continue;
    made.alternatives.back().observed_ns = observed;
    made.alternatives.back().operations = static_cast<std::uint64_t>(items);
  }
  return made;
}

}  // namespace lull::aggregate
