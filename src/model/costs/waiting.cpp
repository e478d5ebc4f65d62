#include "model/costs/waiting.hpp"

#include <algorithm>
#include <array>

namespace lull::model {
namespace {

constexpr std::size_t fewest_wake_ups = 8;  // of fewer, a high percentile is just the maximum

// The first `most` values, ascending.
template <std::size_t most>
struct sorted {
  explicit sorted(std::span<const std::int64_t> values) {
    for (const std::int64_t value : values.first(std::min(values.size(), most))) {
      const auto end = at.begin() + static_cast<std::ptrdiff_t>(count++);
      const auto place = std::upper_bound(at.begin(), end, value);
      std::move_backward(place, end, end + 1);
      *place = value;
    }
  }
  std::array<std::int64_t, most> at{};
  std::size_t count = 0;
};

}  // namespace

std::optional<slack_prediction> predict_slack(std::span<const std::int64_t> durations_ns,
                                              std::int64_t wake_up_latency_ns, const waiting_costs& costs,
                                              std::size_t fewest) {
  if (durations_ns.empty() || durations_ns.size() < fewest) return std::nullopt;
  const sorted<most_durations> seen(durations_ns);
  const std::int64_t lower = seen.at[seen.count / 4], upper = seen.at[seen.count - 1 - seen.count / 4];
  const std::int64_t margin = wake_up_latency_ns + (upper - lower) + costs.cold_start_ns;
  return slack_prediction{lower, std::min(margin, lower / costs.least_slack_per_margin)};
}

std::int64_t wake_up_latency_ns(std::span<const std::int64_t> seen_ns, const waiting_costs& costs) {
  if (seen_ns.size() < fewest_wake_ups) return costs.assumed_wake_up_latency_ns;
  const sorted<most_wake_up_latencies> seen(seen_ns);
  return seen.at[seen.count * costs.timers_in_time_pct / 100];
}

}  // namespace lull::model
