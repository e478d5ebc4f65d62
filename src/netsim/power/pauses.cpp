#include "netsim/power/pauses.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "netsim/power/link_power.hpp"

namespace lull::netsim {
namespace {

picoseconds fast_wake_begins(const link_policy& p) { return p.hold; }
picoseconds fast_wake_ends(const link_policy& p) { return p.hold + p.fast_for; }
picoseconds quiet_begins(const link_policy& p) { return p.hold + p.fast_for + p.sleep_time; }

// The part of the pauses of a bin, all longer than `begin`, that comes after `begin`.
link_time after(std::uint64_t count, link_time sum, picoseconds begin) {
  return sum - link_time{count} * static_cast<std::uint64_t>(begin);
}

void add_to(rest_of_links& to, const link_rest& r) {
  to.deep += static_cast<std::uint64_t>(r.deep);
  to.fast += static_cast<std::uint64_t>(r.other);
  to.wakes += r.wakes;
}

void add_to(rest_of_links& to, const rest_of_links& other) {
  to.deep += other.deep;
  to.fast += other.fast;
  to.wakes += other.wakes;
}

}  // namespace

pauses::pauses(std::span<const link_policy> policies)
    : policies_(policies.begin(), policies.end()), apart_(policies.size()) {
  edges_.fill(never);
  std::vector<picoseconds> edges;
  for (const link_policy& p : policies_) {
    if (p.does != link_policy::behaviour::sleeps || p.bound > 0)
      throw usage_error("count pauses", "a power mode does not let links sleep after a fixed hold",
                        "simulate that mode by itself");
    longest_ = std::min(longest_, quiet_begins(p) + p.quiet_time);
    edges.insert(edges.end(), {fast_wake_begins(p), fast_wake_ends(p), quiet_begins(p)});
  }
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::erase_if(edges, [this](picoseconds edge) { return edge >= longest_; });
  if (edges.size() >= most_bins)
    throw usage_error("count pauses", fmt::format("{} power modes are too many", policies_.size()),
                      fmt::format("simulate at most {} together", most_policies));
  std::ranges::copy(edges, edges_.begin());
}

void pauses::add_long(std::size_t kind, picoseconds length) {
  for (std::size_t i = 0; i < policies_.size(); ++i) {
    link_rest r;
    (void)link_power(policies_[i], 1).wake(r, 0, 0, length, 0);
    add_to(apart_[i].used[kind], r);
  }
}

void pauses::close(std::size_t kind, bool used, picoseconds length) {
  for (std::size_t i = 0; i < policies_.size(); ++i) {
    link_rest r;
    link_power(policies_[i], 1).close(r, 0, 0, length);
    add_to((used ? apart_[i].used : apart_[i].unused)[kind], r);
  }
}

void pauses::add(const pauses& other) {
  for (std::size_t kind = 0; kind < link_kinds; ++kind) {
    for (std::size_t bin = 0; bin < most_bins; ++bin) {
      bins_[kind][bin].count += other.bins_[kind][bin].count;
      bins_[kind][bin].sum += other.bins_[kind][bin].sum;
    }
    for (std::size_t i = 0; i < apart_.size(); ++i) {
      add_to(apart_[i].used[kind], other.apart_[i].used[kind]);
      add_to(apart_[i].unused[kind], other.apart_[i].unused[kind]);
    }
  }
}

rest_by_group pauses::of(std::size_t index) const {
  const link_policy& p = policies_[index];
  rest_by_group found = apart_[index];
  for (std::size_t kind = 0; kind < link_kinds; ++kind) {
    rest_of_links& to = found.used[kind];
    for (std::size_t bin = 0; bin < most_bins; ++bin) {
      const auto& [count, sum] = bins_[kind][bin];
      const picoseconds least = bin == 0 ? -1 : edges_[bin - 1];  // all pauses of the bin are longer
      if (count == 0 || least < fast_wake_begins(p)) continue;
      to.wakes += count;
      if (least >= fast_wake_ends(p))
        to.fast += link_time{count} * static_cast<std::uint64_t>(p.fast_for);
      else
        to.fast += after(count, sum, fast_wake_begins(p));
      if (least >= quiet_begins(p)) to.deep += after(count, sum, quiet_begins(p));
    }
  }
  return found;
}

}  // namespace lull::netsim
