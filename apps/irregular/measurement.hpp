// Time and CPU time of an application's passes, as regions of the run's record and as printed lines.
#pragma once
#include <cmath>
#include <cstdint>
#include <lull/aggregate.hpp>
#include <optional>
#include <string>

#include "irregular/program.hpp"
#include "irregular/reduction.hpp"

namespace irregular {

// Measures between start() and stop(), which are collective and may be called repeatedly. The regions of the record are
// "items", the same for all these applications, and within it `region`, the application's own. A stopwatch without a
// region measures only for the application, not for the record.
class stopwatch {
 public:
  stopwatch() = default;
  explicit stopwatch(std::string region) : region_(std::move(region)) {}
  void start();
  void stop();
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] double cpu_seconds() const { return cpu_seconds_; }
  [[nodiscard]] std::int64_t ns_asleep() const { return ns_asleep_; }
  [[nodiscard]] std::uint64_t missed() const { return missed_; }

 private:
  std::string region_;
  double seconds_ = 0, cpu_seconds_ = 0;  // between start() and stop(): minus the values at start()
  std::int64_t ns_asleep_ = 0;
  std::uint64_t missed_ = 0;  // wake-ups
};

// The number of passes that fill `seconds`: 1 if that is 0; otherwise warm-ups find it, which double until they last a
// fifth of it, because the first passes run with cold caches and clocks. run(passes, watch) makes the passes, between
// start() and stop() of the watch. The result is the same on all PEs.
template <class Run>
std::uint64_t passes_for(double seconds, Run&& run, reduction& all) {
  if (seconds <= 0) return 1;
  for (std::uint64_t passes = 1;; passes *= 2) {
    stopwatch warm_up;
    run(passes, warm_up);
    const double pes = static_cast<double>(all.sum(1));
    const double mean = static_cast<double>(all.sum(static_cast<std::uint64_t>(warm_up.seconds() * 1e9))) * 1e-9 / pes;
    if (mean * 5 >= seconds)
      return std::max(std::uint64_t{1},
                      static_cast<std::uint64_t>(std::ceil(static_cast<double>(passes) * seconds / mean)));
  }
}

// Describes what an aggregator did between two calls of its statistics, over all PEs. Collective.
[[nodiscard]] std::string told(const lull::aggregate_statistics& before, const lull::aggregate_statistics& after,
                               reduction& all);

struct outcome {
  std::string program;  // "histogram"
  std::string item;     // "update"
  std::uint64_t items;  // done here
  std::string where;    // after their number: "on 20000 bins"
  std::string found;    // a separate line; may be empty
  std::string result;   // "verified"
};

// Prints the outcome, and puts items, items_per_second and cpu_ns_per_item into the record. Collective.
struct rates {
  double items, items_per_second, cpu_ns_per_item;  // over all PEs
};
rates report(const outcome& done, const options& wanted, const stopwatch& watch, const std::string& aggregation,
             reduction& all);

}  // namespace irregular
