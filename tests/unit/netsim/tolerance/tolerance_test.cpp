// How much longer messages may take: the longest path of the recorded graph is the run time, and predicts that of other
// delays exactly where nothing else changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "netsim/power/link_power.hpp"
#include "netsim/program/programs.hpp"

namespace lull::netsim {
namespace {

using testing::HasSubstr;

constexpr int rounds = 10;

// Messages to and fro, and computing in between.
script ping_pong(std::uint64_t bytes, picoseconds computing) {
  return [=](std::uint32_t rank, const completions& /*done*/) -> stream {
    for (int round = 0; round < rounds; ++round) {
      if (rank == 0) co_yield does::send(1, bytes, 0);
      co_yield does::receive(1 - rank, bytes, 0);
      co_yield does::compute(computing);
      if (rank == 1) co_yield does::send(0, bytes, 0);
    }
  };
}

simulation two_nodes(const script& runs, values keys = {}) {
  simulation s = one_switch(2);
  s.tolerance = 0.01;
  add_program(s, {0, 1}, runs, std::move(keys));
  return s;
}

const tolerated_delay& delay_of(const job_tolerance& t, const std::string& what) {
  return *std::ranges::find(t.delays, what, &tolerated_delay::of);
}

void expect_the_run_time(const job_result& j) {
  ASSERT_TRUE(j.tolerance.has_value());
  EXPECT_EQ(j.tolerance->run_time, static_cast<double>(j.ended - j.started));
}

// All parts of the critical path.
double sum_of(const critical_path& p) { return p.computing + p.sending + p.latency + p.queueing + p.memory; }

TEST(tolerance, critical_path_of_a_ping_pong) {
  const job_result j = played(two_nodes(ping_pong(100, 7 * us)));
  expect_the_run_time(j);
  const critical_path& path = j.tolerance->path;
  EXPECT_EQ(path.messages, 2U * rounds);
  EXPECT_EQ(path.switch_cables, 0U);
  EXPECT_EQ(path.computing, 2.0 * rounds * 7 * us);
  EXPECT_EQ(path.sending, 2.0 * rounds * 80 * 100);
  EXPECT_EQ(path.latency, 2.0 * rounds * static_cast<double>(latency(100) - 80 * 100));
  EXPECT_EQ(path.queueing, 0);
  EXPECT_EQ(sum_of(path), j.tolerance->run_time);
}

TEST(tolerance, a_ping_pong_bears_its_share_of_each_message) {
  const job_result j = played(two_nodes(ping_pong(100, 7 * us)));
  const job_tolerance& t = *j.tolerance;
  const double more = 0.01 * t.run_time;
  EXPECT_NEAR(delay_of(t, "message").most, more / (2 * rounds), 1);
  EXPECT_NEAR(delay_of(t, "node cable").most, more / (2 * 2 * rounds), 1);
  EXPECT_TRUE(std::isinf(delay_of(t, "switch cable").most));
  EXPECT_NEAR(delay_of(t, "byte").most, more / (2 * rounds * 100), 1);
  EXPECT_EQ(delay_of(t, "message").growth, 2 * rounds);
  EXPECT_EQ(delay_of(t, "byte").growth, 2 * rounds * 100);
}

TEST(tolerance, slack_is_used_first) {
  // Rank 0 computes for 100 us while the message of rank 1 travels.
  const script overlapped = [](std::uint32_t rank, const completions& /*done*/) -> stream {
    if (rank == 0) {
      co_yield does::receive(1, 8, 0, 0);
      co_yield does::compute(100 * us);
      co_yield does::wait(0);
    } else {
      co_yield does::send(0, 8, 0);
    }
  };
  const job_result j = played(two_nodes(overlapped));
  const tolerated_delay& d = delay_of(*j.tolerance, "message");
  EXPECT_EQ(d.growth, 0);
  EXPECT_NEAR(d.most, static_cast<double>(101 * us - latency(8)), 1);
  EXPECT_EQ(j.tolerance->path.messages, 0U);
}

TEST(tolerance, time_with_longer_cables_is_that_of_a_simulation_with_them) {
  for (const std::uint64_t bytes : {1U, 5'000U, 100'000U}) {  // the last asks first
    simulation s = two_nodes(ping_pong(bytes, 3 * us));
    const job_tolerance t = *played(s).tolerance;
    for (const auto& [more, time] : delay_of(t, "cable").run_times) {
      s.network.cable_delay = 50'000 + static_cast<picoseconds>(more);
      EXPECT_NEAR(static_cast<double>(played(s).ended), time, 4 * rounds * 3) << bytes;
    }
  }
}

TEST(tolerance, time_with_less_bandwidth_is_that_of_a_simulation_with_it) {
  simulation s = two_nodes(ping_pong(4'000, 3 * us));
  const tolerated_delay d = delay_of(*played(s).tolerance, "byte");
  for (const auto& [more, time] : d.run_times) {
    s.network.bandwidth = s.network.nic_bandwidth = 1e12 / (80 + more);
    EXPECT_NEAR(static_cast<double>(played(s).ended), time, 1e-6 * time);
  }
}

TEST(tolerance, time_with_sleeping_links_is_that_of_a_simulation_with_them) {
  const values keys{{"hold", picoseconds{2 * us}}, {"sleep_time", 1'100'000}, {"wake_deep", picoseconds{5'500'000}}};
  simulation s = two_nodes(ping_pong(100, 7 * us));
  s.savings.push_back({"deep-sleep", keys});
  s.savings.back().own["wake_delays"] = false;
  const job_tolerance t = *played(s).tolerance;
  ASSERT_EQ(t.sleeps.size(), 1U);
  simulation asleep = two_nodes(ping_pong(100, 7 * us));
  asleep.tolerance.reset();
  asleep.power = {"deep-sleep", keys};
  const auto slept = static_cast<double>(played(asleep).ended);
  EXPECT_GT(t.sleeps[0].slowdown, 0.1);
  // The first message finds links that have never carried one; all others wait for both links.
  EXPECT_NEAR(t.sleeps[0].slowdown, slept / t.run_time - 1, 0.001);
  // With the hold that the program bears, it is hardly slower.
  asleep.power.own["hold"] = t.sleeps[0].shortest_hold;
  EXPECT_LE(static_cast<double>(played(asleep).ended), 1.01 * t.run_time);
  EXPECT_LE(t.sleeps[0].shortest_slowdown, 0.01);
  asleep.power.own["hold"] = t.sleeps[0].shortest_hold * 4 / 5;
  EXPECT_GT(static_cast<double>(played(asleep).ended), 1.01 * t.run_time);
}

// Every way in which a process can wait for another.
script of_everything(std::uint32_t size) {
  return [=](std::uint32_t rank, const completions& done) -> stream {
    using kind = operation::kind;
    const std::uint32_t next = (rank + 1) % size;
    const std::uint32_t before = (rank + size - 1) % size;
    co_yield does::compute(rank * us / 3);
    for (const std::uint64_t bytes : {8U, 20'000U, 300'000U}) {
      co_yield does::receive(before, bytes, 1, 0);
      co_yield does::send(next, bytes, 1, 1);
      co_yield does::wait_any();
      if (done.complete(0)) co_yield does::compute(us / 10);
      co_yield does::wait(1);
      co_yield does::wait(0);
    }
    co_yield {.what = kind::synchronous_send, .peer = next, .tag = 2, .request = 0, .bytes = 10};
    co_yield does::compute(us);
    co_yield does::receive(any, 10, any);
    co_yield does::wait(0);
    co_yield does::all_of(collective::allreduce, 64);
    co_yield {.what = kind::collective, .which = collective::alltoall, .request = 3, .bytes = 3'000};
    co_yield does::compute(us / 2 * (size - rank));
    co_yield does::wait(3);
    co_yield {.what = kind::put, .peer = next, .bytes = 5'000};
    co_yield {.what = kind::put, .peer = next, .request = 0, .bytes = 100};
    co_yield {.what = kind::await_put, .peer = before, .bytes = 2};
    co_yield does::wait(0);
    co_yield {.what = kind::get, .peer = next, .bytes = 9'000};
    co_yield {.what = kind::atomic, .peer = before, .bytes = 8};
    co_yield does::all_of(collective::barrier, 0);
  };
}

TEST(tolerance, longest_path_is_the_run_time_whatever_a_process_waits_for) {
  for (const std::int64_t repeats : {1, 3}) {
    for (const picoseconds overhead : {picoseconds{0}, us / 5}) {
      simulation s;
      s.topology = "torus";
      s.parameters = {{"dimensions", {3, 3}}};
      s.tolerance = 0.02;
      add_program(s, {0, 1, 2, 3, 4, 4, 5, 6, 6, 7}, of_everything(10), {{"overhead", overhead}, {"repeats", repeats}});
      s.jobs[0].start = 11 * us;
      const job_result j = played(s);
      expect_the_run_time(j);
      EXPECT_NEAR(sum_of(j.tolerance->path), j.tolerance->run_time, 1);
      EXPECT_GT(j.tolerance->path.messages, 0U);
      EXPECT_GT(delay_of(*j.tolerance, "message").most, 0);
    }
  }
}

TEST(tolerance, each_job_has_its_own) {
  simulation s = one_switch(4);
  s.tolerance = 0.1;
  add_program(s, {0, 1}, ping_pong(8, us));
  add_program(s, {2, 3}, ping_pong(8, 50 * us)).name = "other";
  const result r = simulate(s, {});
  for (const job_result& j : r.jobs) expect_the_run_time(j);
  EXPECT_LT(delay_of(*r.jobs[0].tolerance, "message").most, delay_of(*r.jobs[1].tolerance, "message").most);
}

TEST(tolerance, the_simulation_is_the_same) {
  simulation s = two_nodes(ping_pong(5'000, us));
  const result with = simulate(s, {});
  s.tolerance.reset();
  EXPECT_EQ(as_text(simulate(s, {})), as_text(with));
}

TEST(tolerance, is_refused_where_it_cannot_be_found) {
  simulation s = two_nodes(ping_pong(8, us));
  s.end = 1'000 * us;
  EXPECT_THAT(failure(s), HasSubstr("end is set"));
  s.end = never;
  s.power.mode = "deep-sleep";
  EXPECT_THAT(failure(s), HasSubstr("power.mode is deep-sleep"));
  s.power.mode = "active";
  s.together = true;
  EXPECT_THAT(failure(s), HasSubstr("together repeats"));
  s.together = false;
  s.jobs[0].make = {};
  EXPECT_THAT(failure(s), HasSubstr("uniform is a traffic pattern"));
}

}  // namespace
}  // namespace lull::netsim
