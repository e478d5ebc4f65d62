// How long a wait will take, from how long waits like it took: pure functions, the constants are the machine's.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "model/machine/machine.hpp"

namespace lull::model {

// What is known of a wait from those before it.
struct slack_prediction {
  std::int64_t slack_ns;   // how long it will take
  std::int64_t margin_ns;  // how much before that to be awake
};

constexpr std::size_t most_durations = 8;           // of earlier waits that a prediction looks at
constexpr std::size_t fewest_durations = 3;         // with fewer there is none, unless asked for
constexpr std::size_t most_wake_up_latencies = 32;  // that wake_up_latency_ns() looks at

// From the durations of earlier waits of the same kind, in any order. Predicted is the lower quartile: waking too early
// costs a short spin, waking too late costs the wait itself. The margin is the wake-up latency, the spread of the
// quartiles and the cold start, at most a share of the slack.
[[nodiscard]] std::optional<slack_prediction> predict_slack(std::span<const std::int64_t> durations_ns,
                                                            std::int64_t wake_up_latency_ns,
                                                            const waiting_costs& costs = {},
                                                            std::size_t fewest = fewest_durations);

// The latency that so many of 100 timers do not exceed as `costs` says, from those seen, in any order; the machine's default while they are
// few.
[[nodiscard]] std::int64_t wake_up_latency_ns(std::span<const std::int64_t> seen_ns, const waiting_costs& costs = {});

// Whether a sleep saves more than it costs, where the wait would else spin for `spin_ns` and then sleep.
[[nodiscard]] constexpr bool sleep_pays(const slack_prediction& p, std::int64_t spin_ns,
                                        const waiting_costs& costs = {}) {
  return p.slack_ns >= costs.least_slack_ns + spin_ns;
}

// What such a wait costs: the time awake in it, and how late it goes on, cold caches included. With a timer it is awake for the
// margin, and late by what that lacks. Without, it spins and, where it takes longer, sleeps until it is woken.
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
