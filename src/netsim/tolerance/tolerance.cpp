#include "netsim/tolerance/tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "netsim/tolerance/longest_path.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {
namespace {

constexpr unsigned most_passes = 64;  // of Newton's method; it ends by itself after a few

// The size of the change at which the run time is `most`; infinite if it never is. Every message that the change delays
// at all takes one more picosecond for each unit at least, so that `most` units are enough.
double size_until(double most, longest_path& path, const added_delay& change) {
  double size = most;
  run_time at = path.with(change, size);
  if (at.slope == 0) return std::numeric_limits<double>::infinity();
  for (unsigned pass = 0; pass < most_passes && std::abs(at.time - most) > 0.5; ++pass) {
    const double next = std::max(size - (at.time - most) / at.slope, 0.0);
    if (next == size) break;
    size = next;
    at = path.with(change, size);
    if (at.slope == 0) break;
  }
  return size;
}

tolerated_delay tolerated(const char* of, double most, longest_path& path, const added_delay& change) {
  constexpr std::array multiples{0.25, 0.5, 1.0, 2.0, 4.0, 8.0};
  tolerated_delay found{.of = of, .growth = path.with(change, 0).slope, .most = size_until(most, path, change)};
  if (std::isinf(found.most) || found.most <= 0) return found;
  for (const double multiple : multiples) {
    const double size = multiple * found.most;
    found.run_times.emplace_back(size, path.with(change, size).time);
  }
  return found;
}

// Holds to choose from, a quarter of an octave apart: from 0 and 1 ns to more than a minute.
picoseconds hold_number(unsigned n) { return n == 0 ? 0 : static_cast<picoseconds>(1000 * std::exp2((n - 1) / 4.0)); }
constexpr unsigned holds = 150;

// Slowdowns and savings of links that sleep.
class sleeping {
 public:
  sleeping(longest_path& path, const network_parameters& network, double begun, double lasted, double most)
      : path_(path), network_(network), begun_(begun), lasted_(lasted), most_(most) {}

  [[nodiscard]] tolerated_sleep of(link_policy policy) {
    policy.wake_delays = true;
    const run_asleep own = path_.with(policy, network_);
    const picoseconds hold = shortest_hold(policy);
    policy.hold = hold;
    const run_asleep shortest = path_.with(policy, network_);
    return {.slowdown = slowdown(own),
            .saved = own.saved,
            .shortest_hold = hold,
            .shortest_slowdown = slowdown(shortest),
            .shortest_saved = shortest.saved};
  }

 private:
  [[nodiscard]] double slowdown(const run_asleep& r) const { return lasted_ > 0 ? (r.time - begun_) / lasted_ - 1 : 0; }
  // The same for policies that differ in their hold alone.
  [[nodiscard]] picoseconds shortest_hold(link_policy policy) {
    policy.hold = 0;
    for (const auto& [known, hold] : known_)
      if (known == policy) return hold;
    const link_policy without = policy;
    unsigned enough = holds;
    for (unsigned least = 0; least < enough;) {
      const unsigned middle = (least + enough) / 2;
      policy.hold = hold_number(middle);
      if (path_.with(policy, network_).time <= most_)
        enough = middle;
      else
        least = middle + 1;
    }
    known_.emplace_back(without, hold_number(enough));
    return known_.back().second;
  }

  longest_path& path_;
  const network_parameters& network_;
  double begun_, lasted_, most_;  // picoseconds
  std::vector<std::pair<link_policy, picoseconds>> known_;
};

}  // namespace

void check_tolerance(const simulation& asked) {
  const auto refuse = [&](const std::string& found, const char* fix) { throw usage_error(asked.source, found, fix); };
  if (packets_wait_for_links(asked))
    refuse(fmt::format("tolerance follows from a run in which no packet waits for a link, but power.mode is {}",
                       asked.power.mode),
           "set power.mode = active, or power.wake_delays = false");
  if (asked.sample) refuse("tolerance needs whole programs, but sample leaves some out", "leave out one of them");
  if (asked.together) refuse("tolerance is that of one run, but together repeats programs", "leave out one of them");
  if (asked.end != never) refuse("tolerance needs whole programs, but end is set", "leave out one of them");
  for (const job& j : asked.jobs)
    if (!j.make && !find_workload(j.pattern).is_program)
      refuse(fmt::format("tolerance is that of programs, but {} is a traffic pattern", j.pattern),
             "leave out tolerance");
}

job_tolerance find_tolerance(const dependencies& recorded, const simulation& asked, picoseconds start) {
  longest_path path(recorded);
  const auto begun = static_cast<double>(start);
  const double lasted = path.with({}, 0).time - begun;
  const double most = begun + lasted * (1 + *asked.tolerance);
  job_tolerance found{.slowdown = *asked.tolerance,
                      .run_time = lasted,
                      .steps = recorded.steps().size(),
                      .path = path.recorded(asked.network)};
  found.delays = {tolerated("message", most, path, {.message = 1}),
                  tolerated("cable", most, path, {.node_cable = 1, .switch_cable = 1}),
                  tolerated("node cable", most, path, {.node_cable = 1}),
                  tolerated("switch cable", most, path, {.switch_cable = 1}),
                  tolerated("byte", most, path, {.byte = 1})};
  const double of_byte = 1e12 / asked.network.nic_bandwidth;
  found.bandwidth = of_byte / (of_byte + found.delays.back().most);
  for (tolerated_delay& d : found.delays)
    for (auto& [size, time] : d.run_times) time -= begun;
  sleeping asleep(path, asked.network, begun, lasted, most);
  for (const link_policy& p : asked.saving_policies()) found.sleeps.push_back(asleep.of(p));
  return found;
}

}  // namespace lull::netsim
