// Predicts how long a wait will take, from the durations of similar waits: pure functions of the machine's constants.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "model/machine/machine.hpp"

namespace lull::model {

// The prediction for a wait.
struct slack_prediction {
  std::int64_t slack_ns;   // how long it will take
  std::int64_t margin_ns;  // how long before its end to be awake
};

constexpr std::size_t most_durations = 8;           // of earlier waits that a prediction uses
constexpr std::size_t fewest_durations = 3;         // no prediction from fewer, unless requested
constexpr std::size_t most_wake_up_latencies = 32;  // that wake_up_latency_ns() uses

// From the durations of earlier waits of the same kind, in any order. The prediction is the lower quartile: waking too
// early costs a short spin, waking too late delays the program. The margin is the wake-up latency, the spread of the
// quartiles and the cold start, at most a share of the slack.
[[nodiscard]] std::optional<slack_prediction> predict_slack(std::span<const std::int64_t> durations_ns,
                                                            std::int64_t wake_up_latency_ns,
                                                            const waiting_costs& costs = {},
                                                            std::size_t fewest = fewest_durations);

// The latency that `timers_in_time_pct` of 100 timers do not exceed, from those seen, in any order; the machine's
// default while they are few.
[[nodiscard]] std::int64_t wake_up_latency_ns(std::span<const std::int64_t> seen_ns, const waiting_costs& costs = {});

// Whether a sleep saves more than it costs, if the wait would otherwise spin for `spin_ns` and then sleep.
[[nodiscard]] constexpr bool sleep_pays(const slack_prediction& p, std::int64_t spin_ns,
                                        const waiting_costs& costs = {}) {
  return p.slack_ns >= costs.least_slack_ns + spin_ns;
}

// The cost of such a wait: the time awake in it, and its delay, including cold caches. With a timer it is awake for the
// margin, and late by what the margin lacks. Without a timer it spins and, if the wait is longer, sleeps until it is
// woken.
[[nodiscard]] constexpr double ns_of_wait_with_timer(const slack_prediction& p, std::int64_t wake_up_latency_ns,
                                                     const waiting_costs& costs = {}) {
  return static_cast<double>(std::max(p.margin_ns, wake_up_latency_ns + costs.cold_start_ns));
}
[[nodiscard]] constexpr double ns_of_wait_without_timer(const slack_prediction& p, std::int64_t spin_ns,
                                                        std::int64_t wake_up_latency_ns,
                                                        const waiting_costs& costs = {}) {
  return static_cast<double>(p.slack_ns <= spin_ns ? p.slack_ns : spin_ns + wake_up_latency_ns + costs.cold_start_ns);
}

}  // namespace lull::model
