// One link against queueing theory: the mean wait, the shares of time in every power state, the wake-ups and the mean
// power.
//
// Two nodes at one switch send each other messages of one packet, created at random (Poisson) times: each injection
// link is a separate queue, M/D/1 if links are always active. A link that must wake up is the same queue with a set-up
// time D before each busy period. An idle period lasts X, exponential with mean 1/lambda independently of the past, so
// everything follows from the densities of X (Welch, "On a generalized M/G/1 queuing process in which the first
// customer of each busy period receives exceptional service", 1964; Takagi, "Queueing Analysis" 1, 1991, section 2.2).
// With rho = lambda S:
//
//   E[wait]     lambda S^2 / (2 (1 - rho)) + (2 E[D] + lambda E[D^2]) / (2 (1 + lambda E[D]))
//               (a wait begins when the packet is created and ends at its first bit: the set-up is part of it)
//   a cycle     idle, set-up, busy: E[C] = (1/lambda + E[D]) / (1 - rho)
//   time        E[time in a state during X] / E[C], since states save power only between busy periods
//   wake-ups    P(X > hold) / E[C]
//
// D is 0 while X is within the hold, otherwise the delay of the state reached. Quiet and refresh alternate from `o` =
// hold + (hybrid: time in fast wake) + Ts on: E[quiet] = exp(-lambda o) / lambda (1 - exp(-lambda Tq)) / (1 -
// exp(-lambda (Tq + Tr))).
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "netsim/runs.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {
namespace {

constexpr double service = 327'680;  // picoseconds of 4096 bytes at 100 Gbit/s

struct power_case {
  std::string name;
  power_parameters power;
  double slowdown = 1;  // of service
  friend void PrintTo(const power_case& c, std::ostream* out) { *out << c.name; }
};

struct theory {
  double wait, deep, fast, wakes, watts;  // picoseconds; shares of time; per picosecond; share of active power
};

theory predict(const power_parameters& given, double load, double slowdown) {
  const std::string& mode = given.mode;
  const link_policy p = policy_of(given);
  const double lambda = load / service;
  const double s = service * slowdown;
  const double rho = lambda * s;
  const auto beyond = [&](double t) { return std::exp(-lambda * t); };  // P(X > t)
  const auto hold = static_cast<double>(p.hold);
  const auto in_fast = mode == "hybrid" ? static_cast<double>(p.fast_for) : 0.0;
  double d1 = 0;  // moments of D
  double d2 = 0;
  const auto delays = [&](picoseconds by, double probability) {
    d1 += static_cast<double>(by) * probability;
    d2 += static_cast<double>(by) * static_cast<double>(by) * probability;
  };
  double fast = 0;
  double deep = 0;
  const bool sleeps = mode == "deep-sleep" || mode == "hybrid";
  if (mode == "fast-wake") {
    delays(p.wake_fast, beyond(hold));
    fast = beyond(hold) / lambda;
  } else if (sleeps) {
    delays(p.wake_fast, beyond(hold) - beyond(hold + in_fast));
    delays(p.wake_deep, beyond(hold + in_fast));
    fast = (beyond(hold) - beyond(hold + in_fast)) / lambda;
    const auto quiet = static_cast<double>(p.quiet_time);
    const auto refresh = static_cast<double>(p.refresh_time);
    deep = beyond(hold + in_fast + static_cast<double>(p.sleep_time)) / lambda * (1 - beyond(quiet)) /
           (1 - beyond(quiet + refresh));
  }
  const double cycle = (1 / lambda + d1) / (1 - rho);
  theory t{};
  t.wait = lambda * s * s / (2 * (1 - rho)) + (2 * d1 + lambda * d2) / (2 * (1 + lambda * d1));
  t.deep = deep / cycle;
  t.fast = fast / cycle;
  t.wakes = (fast > 0 || sleeps ? beyond(hold) : 0) / cycle;
  t.watts = 1 - (1 - p.deep_share) * t.deep - (1 - p.fast_share) * t.fast;
  return t;
}

simulation one_link(const power_parameters& power, double load, picoseconds end, std::uint64_t seed) {
  simulation s;
  s.seed = seed;
  s.topology = "hyperx";
  s.parameters = {{"dimensions", {1}}, {"nodes_per_switch", {2}}};
  s.network.input_buffer = 1 << 29;  // packets waiting for the other link never block this one
  s.power = power;
  job& j = s.jobs.emplace_back();
  j.nodes = {0, 1};
  j.pattern = "permutation";
  j.load = load;
  j.message = 4096;
  j.messages = 0;
  s.end = end;
  return s;
}

struct measured {
  estimate wait, deep, fast, wakes, watts;
  double time;  // of all links and runs
};

measured measure(const power_parameters& power, double load, double packets) {
  constexpr int replications = 8;
  const link_policy policy = policy_of(power);
  double wait = 0;
  double variance = 0;
  std::vector<double> deep, fast, wakes, watts;
  for (int r = 0; r < replications; ++r) {
    const auto end = static_cast<picoseconds>(packets * service / load);
    const simulation asked = one_link(power, load, end, 1000 + static_cast<std::uint64_t>(r));
    const result got = simulate(asked, {});
    // From creation to the end, minus the time from the first bit on, minus the delay of both interfaces.
    std::vector<double> waits;
    for (std::size_t i = 0; i < got.packet_latency.batch_means.size(); ++i)
      waits.push_back(got.packet_latency.batch_means[i] - got.network_latency.batch_means[i] -
                      2.0 * static_cast<double>(asked.network.nic_delay));
    const estimate of_run = estimate_of(waits, got.packet_latency.batch_counts);
    wait += of_run.mean / replications;
    variance += of_run.half_width * of_run.half_width / replications / replications;
    for (const link_result& l : got.links) {
      if (l.kind != link_result::link_kind::injection) continue;
      const auto time = static_cast<double>(end);
      deep.push_back(static_cast<double>(l.deep_sleep) / time);
      fast.push_back(static_cast<double>(l.fast_wake) / time);
      wakes.push_back(static_cast<double>(l.wakes) / time);
      watts.push_back(1 - (1 - policy.deep_share) * deep.back() - (1 - policy.fast_share) * fast.back());
    }
  }
  return {{wait, std::sqrt(variance)}, estimate_of(deep),  estimate_of(fast),
          estimate_of(wakes),          estimate_of(watts), static_cast<double>(deep.size()) * packets * service / load};
}

void expect_agreement(const char* what, const estimate& found, double want, double unit) {
  EXPECT_NEAR(found.mean / unit, want / unit, found.half_width / unit + 1e-9) << what;
}

std::vector<power_case> power_cases() {
  const auto sleeping = [](const char* mode, picoseconds hold) {
    return power_parameters{mode, {{"hold", hold}, {"hybrid_hold", 1'100'000}}};
  };
  power_parameters refreshing = sleeping("deep-sleep", 0);
  refreshing.own["quiet_time"] = 4'000'000;  // so short that refreshes count
  power_parameters slow = sleeping("adaptive-rate", 0);
  slow.own["raise_backlog"] = std::int64_t{1} << 40;  // it never rises
  return {{"active", {}},
          {"deep_sleep", sleeping("deep-sleep", 0)},
          {"deep_sleep_hold_1100ns", sleeping("deep-sleep", 1'100'000)},
          {"deep_sleep_hold_4400ns", sleeping("deep-sleep", 4'400'000)},
          {"deep_sleep_refreshing", refreshing},
          {"fast_wake", sleeping("fast-wake", 0)},
          {"fast_wake_hold_1100ns", sleeping("fast-wake", 1'100'000)},
          {"hybrid", sleeping("hybrid", 0)},
          {"hybrid_hold_1100ns", sleeping("hybrid", 1'100'000)},
          {"slow_rate", slow, 4}};
}

class one_link_queue : public testing::TestWithParam<power_case> {};

TEST_P(one_link_queue, waits_and_rests_as_theory_says) {
  const power_case& c = GetParam();
  for (const double load : {0.01, 0.1, 0.3, 0.5, 0.7, 0.9}) {
    if (load * c.slowdown >= 1) continue;
    SCOPED_TRACE(load);
    const theory want = predict(c.power, load, c.slowdown);
    const measured got = measure(c.power, load, load > 0.8 ? 60'000 : 30'000);
    expect_agreement("mean wait, ns", got.wait, want.wait, 1e3);
    // The row of the table in docs/explanation/network-simulator.md, for --gtest_output=json.
    RecordProperty(fmt::format("load_{:.0f}_percent", load * 100),
                   fmt::format("wait {:.1f} +- {:.1f} ({:.1f}) ns, deep {:.2f} +- {:.2f} ({:.2f}) %, fast {:.2f} +- "
                               "{:.2f} ({:.2f}) %, power {:.2f} ({:.2f}) %",
                               got.wait.mean / 1e3, got.wait.half_width / 1e3, want.wait / 1e3, got.deep.mean * 100,
                               got.deep.half_width * 100, want.deep * 100, got.fast.mean * 100,
                               got.fast.half_width * 100, want.fast * 100, got.watts.mean * 100, want.watts * 100));
    if (c.slowdown != 1) continue;
    const double expected = want.wakes * got.time;
    if (expected < 100) {  // too few for an interval: at most 4 deviations of a Poisson count away
      EXPECT_NEAR(got.wakes.mean * got.time, expected, 4 * std::sqrt(expected) + 4) << "wake-ups";
      continue;
    }
    expect_agreement("deep sleep, percent of time", got.deep, want.deep, 1e-2);
    expect_agreement("fast wake, percent of time", got.fast, want.fast, 1e-2);
    expect_agreement("wake-ups, per ms", got.wakes, want.wakes, 1e-9);
    expect_agreement("power, percent", got.watts, want.watts, 1e-2);
  }
}

INSTANTIATE_TEST_SUITE_P(netsim, one_link_queue, testing::ValuesIn(power_cases()),
                         [](const auto& info) { return info.param.name; });

// A link at a quarter of its rate cannot carry half of it: it must rise again, wherever the traffic comes from.
TEST(adaptive_rate, rises_at_a_nodes_link_when_messages_wait_in_the_node) {
  const power_parameters p{"adaptive-rate", {}};
  const picoseconds end = 10'000'000'000;
  const result r = simulate(one_link(p, 0.5, end, 1), {});
  EXPECT_GT(static_cast<double>(r.bytes_delivered) * 80, 0.98 * 0.5 * 2 * static_cast<double>(end));
  for (const link_result& l : r.links) {
    EXPECT_GT(l.wakes, 100U);
    EXPECT_GT(l.slow, 0);
  }
}

TEST(adaptive_rate, rises_at_a_switchs_port_when_its_buffer_is_full_by_default) {
  simulation s;
  s.topology = "hyperx";
  s.parameters = {{"dimensions", {1}}, {"nodes_per_switch", {5}}};
  s.power.mode = "adaptive-rate";
  s.end = 10'000'000'000;
  job& j = s.jobs.emplace_back();
  j.nodes = {0, 1, 2, 3, 4};
  j.pattern = "incast";
  j.load = 0.15;  // per link: little, but more than a slow link can carry where two flows meet
  j.message = 4096;
  j.messages = 0;
  const result r = simulate(s, {});
  EXPECT_GT(static_cast<double>(r.bytes_delivered) * 80, 0.98 * 0.6 * static_cast<double>(s.end));
}

}  // namespace
}  // namespace lull::netsim
