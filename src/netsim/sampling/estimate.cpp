#include "netsim/sampling/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {
namespace {

// A pause that is cut must still be much longer than the times of the power mode.
constexpr picoseconds longer = 10;

std::int64_t repeats_of(const job& j) {
  const auto found = j.own.find("repeats");
  return found == j.own.end() ? 1 : std::get<std::int64_t>(found->second.is);
}

}  // namespace

void check_sample(const simulation& asked) {
  const auto refuse = [&](const std::string& found, const char* fix) { throw usage_error(asked.source, found, fix); };
  const link_policy policy = policy_of(asked.power);
  if (policy.does == link_policy::behaviour::changes_rate || policy.bound > 0)
    refuse(fmt::format("sample leaves out units, but links of power.mode {}{} depend on all packets before",
                       asked.power.mode, policy.bound > 0 ? " with a bound" : ""),
           "leave out [sample], or choose another mode");
  if (!asked.savings.empty()) refuse("savings need all pauses, but sample leaves some out", "leave out one of them");
  if (asked.end != never) refuse("sample simulates whole runs, but end is set", "leave out one of them");
  if (policy.does == link_policy::behaviour::sleeps) {
    const picoseconds until_deep = policy.hold + (policy.fast_for < any_time ? policy.fast_for : 0) + policy.sleep_time;
    if (asked.sample->cut < longer * until_deep)
      refuse(fmt::format("sample.cut is {} us, but links rest {} us after a packet at the earliest",
                         asked.sample->cut / 1'000'000, until_deep / 1'000'000),
             "make it ten times as long at least");
  }
  for (const job& j : asked.jobs)
    if (!j.make && !find_workload(j.pattern).is_program)
      refuse(fmt::format("sample leaves out units of programs, but {} is a traffic pattern", j.pattern),
             "leave out [sample]");
}

simulation with_random_starts(const simulation& asked) {
  simulation s = asked;
  generator random(asked.sample->seed);
  for (job& j : s.jobs) j.start += static_cast<picoseconds>(random.uniform() * static_cast<double>(asked.sample->cut));
  return s;
}

void estimate_whole(result& of, const simulation& asked, const link_losses& lost) {
  whole_run& whole = *of.sampled;
  for (std::size_t i = 0; i < whole.jobs.size(); ++i)
    whole.time = std::max(whole.time, whole.jobs[i].run_time * static_cast<double>(repeats_of(asked.jobs[i])));
  std::array<link_loss, link_kinds> all{};
  std::array<double, link_kinds> wakes{};
  for (std::size_t i = 0; i < whole.jobs.size(); ++i) {
    const job_estimate& j = whole.jobs[i];
    const double runs =
        asked.together && j.run_time > 0 ? whole.time / j.run_time : static_cast<double>(repeats_of(asked.jobs[i]));
    for (std::size_t k = 0; k < j.units.size(); ++k) {
      const unit_estimate& u = j.units[k];
      if (u.measured == 0) continue;
      const double times = runs * static_cast<double>(u.count) / static_cast<double>(u.measured);
      for (std::uint32_t run = 0; run < of.jobs[i].run_ends.size(); ++run) {
        const auto lost_there = lost.of(static_cast<std::uint32_t>(i), account_number(run, j.units.size(), k));
        for (std::size_t kind = 0; kind < link_kinds; ++kind) {
          all[kind].deep += times * lost_there[kind].deep;
          all[kind].fast += times * lost_there[kind].fast;
          wakes[kind] += times * static_cast<double>(lost_there[kind].wakes);
          whole.packet_hops += times * static_cast<double>(lost_there[kind].packets);
        }
      }
    }
  }
  std::array<std::uint64_t, link_kinds> used{}, unused{};
  for (const link_result& l : of.links) ++(l.packets > 0 ? used : unused)[static_cast<std::size_t>(l.kind)];
  const auto rest = [&](std::uint64_t links, double share, double less) {
    return static_cast<link_time>(std::max(0.0, static_cast<double>(links) * whole.time * share - less));
  };
  const rest_when_unused idle = lost.idle();
  for (std::size_t kind = 0; kind < link_kinds; ++kind) {
    const link_loss& less = all[kind];
    whole.rest.used[kind] = {rest(used[kind], idle.deep, less.deep), rest(used[kind], idle.fast, less.fast),
                             static_cast<std::uint64_t>(std::llround(wakes[kind]))};
    whole.rest.unused[kind] = {rest(unused[kind], idle.deep, 0), rest(unused[kind], idle.fast, 0), 0};
  }
}

}  // namespace lull::netsim
