#include "meter/totals.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace lull::meter {
namespace {

// Two sources of one of these domains read the same hardware: the most direct one counts, the first of equals.
constexpr std::array of_one_source{domain::node, domain::package, domain::dram};

// Accelerators of different vendors have different sources and are added. But a channel of `covers` whose name begins
// with `holder` already includes other accelerators whose names begin with `held`.
struct containment {
  std::string_view holder;
  domain covers;
  std::string_view held;
};
constexpr std::array accelerators_held{
    containment{"grace:module-", domain::package, ""},  // a Grace Hopper module includes its GPU
    containment{"pm_counters:", domain::gpu, ""},       // counts accelerators of any vendor
    containment{"rocm:", domain::gpu, "hwmon:amdgpu"},  // the same cards
};

std::vector<std::size_t> all_of(std::span<const channel_label> channels, domain of) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < channels.size(); ++i)
    if (channels[i].covers == of) found.push_back(i);
  return found;
}

std::string_view source_of(const channel_label& c) { return c.name.substr(0, c.name.find(':')); }

std::vector<std::size_t> of_most_direct_source(std::span<const channel_label> channels, domain of) {
  std::vector<std::size_t> found = all_of(channels, of);
  std::map<std::string_view, kind> weakest;  // by source
  for (const std::size_t i : found) {
    const auto [at, is_new] = weakest.try_emplace(source_of(channels[i]), channels[i].kind);
    at->second = std::max(at->second, channels[i].kind);
  }
  const auto best = std::ranges::min_element(found, {}, [&](std::size_t i) { return weakest[source_of(channels[i])]; });
  if (best == found.end()) return found;
  const std::string_view chosen = source_of(channels[*best]);
  std::erase_if(found, [&](std::size_t i) { return source_of(channels[i]) != chosen; });
  return found;
}

bool is_platform(const channel_label& c) { return c.name.ends_with(":psys"); }

double low_joules(std::span<const channel_label> channels, const std::vector<std::size_t>& of) {
  double sum = 0;
  for (const std::size_t i : of) sum += channels[i].joules ? channels[i].joules->low : 0;
  return sum;
}

// A meter of the node and the counters inside it may be some seconds apart: only less than this share contradicts them.
// The platform counter is itself one of these counters.
constexpr double least_share_of_a_meter = 0.5;

// The channels without those that claim to cover the node but counted less than the parts inside it.
std::vector<channel_label> believable(std::span<const channel_label> channels) {
  std::vector<channel_label> kept(channels.begin(), channels.end());
  double inside = 0;
  for (const domain part : {domain::package, domain::dram}) {
    std::vector<std::size_t> found = of_most_direct_source(channels, part);
    std::erase_if(found, [&](std::size_t i) { return channels[i].kind > kind::vendor_model; });  // no estimates
    inside += low_joules(channels, found);
  }
  const auto is_too_low = [&](const channel_label& c) {
    const double share = is_platform(c) ? 1 : least_share_of_a_meter;
    return c.covers == domain::node && c.joules && c.joules->high < inside * share;
  };
  std::erase_if(kept, is_too_low);
  for (const channel_label& c : kept)
    if (c.covers == domain::node && is_platform(c) && c.joules) inside = std::max(inside, c.joules->low);
  std::erase_if(kept, is_too_low);
  return kept;
}

}  // namespace

std::vector<std::size_t> counted_of(std::span<const channel_label> channels, domain of) {
  if (std::ranges::find(of_one_source, of) != of_one_source.end()) {
    std::vector<std::size_t> found = of_most_direct_source(channels, of);
    if (of == domain::node && found.size() > 1) found.erase(found.begin() + 1, found.end());  // each is the whole node
    return found;
  }
  std::vector<std::size_t> found = all_of(channels, of);
  if (of != domain::gpu) return found;
  for (const containment& c : accelerators_held) {
    const std::vector<std::size_t> holders =
        c.covers == domain::gpu ? found : of_most_direct_source(channels, c.covers);
    const auto holds = [&](std::size_t i) { return channels[i].name.starts_with(c.holder); };
    if (std::ranges::none_of(holders, holds)) continue;
    std::erase_if(found, [&](std::size_t i) { return channels[i].name.starts_with(c.held) && !holds(i); });
  }
  return found;
}

std::vector<std::size_t> counted(std::span<const channel_label> channels) {
  const std::vector<channel_label> left = believable(channels);
  if (const std::vector<std::size_t> whole = counted_of(left, domain::node); !whole.empty()) {
    const auto same = [&](const channel_label& c) { return c.covers == domain::node && c.name == left[whole[0]].name; };
    return {static_cast<std::size_t>(std::ranges::find_if(channels, same) - channels.begin())};
  }
  std::vector<std::size_t> found = counted_of(channels, domain::package);
  if (found.empty()) return counted_of(channels, domain::gpu);
  for (const domain part : {domain::dram, domain::gpu}) {
    const std::vector<std::size_t> more = counted_of(channels, part);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

}  // namespace lull::meter
