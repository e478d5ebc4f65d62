#include "trace/archive/clocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace lull::trace {
namespace {

constexpr std::size_t windows = 8;  // in each of which the clocks of two hosts are compared
constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();

// The least time that a message took between two clocks, by these clocks, in each window of the run.
struct least_times {
  std::array<std::int64_t, windows> there, back;
  least_times() {
    there.fill(unknown);
    back.fill(unknown);
  }
};

}  // namespace

joined_clocks::joined_clocks(std::span<const raw_process* const> processes) {
  std::map<std::string, std::uint32_t> by_boot;
  std::vector<std::vector<clock_pair>> pairs;
  for (const raw_process* const p : processes) {
    if (p == nullptr) {
      clock_of_.push_back(0);
      continue;
    }
    const std::string& key = p->boot.empty() ? p->host : p->boot;
    const auto [found, is_new] = by_boot.try_emplace(key, static_cast<std::uint32_t>(lines_.size()));
    if (is_new) {
      lines_.push_back({.boot = p->boot, .host = p->host});
      pairs.emplace_back();
    }
    clock_of_.push_back(found->second);
    auto& all = pairs[found->second];
    all.insert(all.end(), p->clocks.begin(), p->clocks.end());
  }
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (pairs[i].empty()) continue;
    const auto [first, last] = std::ranges::minmax_element(pairs[i], {}, &clock_pair::ticks);
    line& l = lines_[i];
    l.base_ticks = first->ticks;
    l.base_ns = first->realtime_ns;
    l.monotonic_to_real_ns = first->realtime_ns - first->monotonic_ns;
    if (last->ticks > first->ticks)
      l.ns_per_tick = static_cast<double>(last->monotonic_ns - first->monotonic_ns) /
                      static_cast<double>(last->ticks - first->ticks);
  }
  if (lines_.empty()) lines_.emplace_back();
}

std::int64_t joined_clocks::corrected(const line& l, std::int64_t ns) {
  const auto after = std::ranges::lower_bound(l.corrections, ns, {}, &correction::at_ns);
  if (after == l.corrections.begin()) return ns + after->add_ns;
  const auto before = std::prev(after);
  if (after == l.corrections.end()) return ns + before->add_ns;
  const double share = static_cast<double>(ns - before->at_ns) / static_cast<double>(after->at_ns - before->at_ns);
  return ns + before->add_ns + std::llround(share * static_cast<double>(after->add_ns - before->add_ns));
}

std::int64_t joined_clocks::ns_of_monotonic(std::uint32_t clock, std::int64_t monotonic_ns) const {
  const line& l = lines_[clock];
  const std::int64_t raw = monotonic_ns + l.monotonic_to_real_ns;
  return l.corrections.empty() ? raw : corrected(l, raw);
}

std::uint32_t joined_clocks::clock_of_host(const std::string& host) const {
  const auto found = std::ranges::find(lines_, host, &line::host);
  return found == lines_.end() ? 0 : static_cast<std::uint32_t>(found - lines_.begin());
}

void joined_clocks::correct(std::span<const crossing> messages) {
  if (messages.empty()) return;
  const auto [first, last] = std::ranges::minmax(messages, {}, &crossing::received_ns);
  const std::int64_t begin = first.received_ns;
  const std::int64_t width = (last.received_ns - begin) / static_cast<std::int64_t>(windows) + 1;
  std::map<std::pair<std::uint32_t, std::uint32_t>, least_times> found;  // keyed by lower and higher clock
  for (const crossing& m : messages) {
    if (m.from == m.to) continue;
    least_times& least = found[{std::min(m.from, m.to), std::max(m.from, m.to)}];
    auto& direction = m.from < m.to ? least.there : least.back;
    const std::int64_t w = std::clamp<std::int64_t>((m.received_ns - begin) / width, 0, windows - 1);
    auto& time = direction[static_cast<std::size_t>(w)];
    time = std::min(time, m.received_ns - m.sent_ns);
  }
  // Breadth first from the first clock; each clock is corrected relative to one that is done.
  std::vector<bool> done(lines_.size(), false);
  std::vector<std::uint32_t> next{0};
  done[0] = true;
  for (std::size_t at = 0; at < next.size(); ++at)
    for (const auto& [pair, least] : found) {
      const auto [low, high] = pair;
      if (done[low] == done[high] || (low != next[at] && high != next[at])) continue;
      const std::uint32_t known = done[low] ? low : high, other = done[low] ? high : low;
      line& other_line = lines_[other];
      for (std::size_t w = 0; w < windows; ++w) {
        if (least.there[w] == unknown || least.back[w] == unknown) continue;
        const std::int64_t high_is_ahead = (least.there[w] - least.back[w]) / 2;  // assumes equal delays
        const std::int64_t middle = begin + static_cast<std::int64_t>(w) * width + width / 2;
        std::int64_t add = other == high ? -high_is_ahead : high_is_ahead;
        if (!lines_[known].corrections.empty()) add += corrected(lines_[known], middle) - middle;
        other_line.corrections.push_back({middle, add});
      }
      if (other_line.corrections.empty()) continue;  // messages in one direction are not sufficient
      done[other] = true;
      next.push_back(other);
    }
}

}  // namespace lull::trace
