// Programs that run together: each runs again and again until all have ended a run, and the simulation ends then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "netsim/program/programs.hpp"

namespace lull::netsim {
namespace {

// Two processes that compute and then exchange a message.
script pair_of(picoseconds computing) {
  return [=](std::uint32_t rank, const completions& /*done*/) -> stream {
    co_yield does::compute(computing);
    co_yield does::send(1 - rank, 8, 0, 0);
    co_yield does::receive(1 - rank, 8, 0);
    co_yield does::wait(0);
  };
}

simulation long_beside_short() {
  simulation s = one_switch(4);
  s.together = true;
  add_program(s, {0, 1}, pair_of(1'000 * us));
  add_program(s, {2, 3}, pair_of(10 * us)).name = "short";
  return s;
}

TEST(programs_together, run_until_the_longest_has_ended_a_run) {
  const result r = simulate(long_beside_short(), {});
  const job_result& one = r.jobs[0];
  const job_result& other = r.jobs[1];
  ASSERT_EQ(one.run_ends.size(), 1U);
  EXPECT_EQ(one.run_ends[0], 1'000 * us + latency(8));
  EXPECT_GE(r.ended, one.run_ends[0]);
  EXPECT_LE(r.ended, one.run_ends[0] + r.window);
  // Each run of the short program takes as long as alone, and it never pauses.
  const picoseconds of_short = 10 * us + latency(8);
  EXPECT_EQ(other.run_ends.size(), static_cast<std::size_t>(r.ended / of_short));
  EXPECT_EQ(other.run_ends.back(), static_cast<picoseconds>(other.run_ends.size()) * of_short);
  EXPECT_EQ(one.ended, r.ended);
  EXPECT_EQ(other.ended, r.ended);
}

TEST(programs_together, count_the_time_of_runs_that_the_end_interrupts) {
  const result r = simulate(long_beside_short(), {});
  const process_time& spent = *r.jobs[1].time;
  EXPECT_NEAR(spent.computing + spent.sending + spent.waiting, 2.0 * static_cast<double>(r.ended),
              2.0 * static_cast<double>(r.window));
}

TEST(programs_together, end_as_many_runs_as_they_are_to_repeat) {
  simulation s = long_beside_short();
  s.jobs[0].own = {{"repeats", std::int64_t{3}}};
  EXPECT_EQ(simulate(s, {}).jobs[0].run_ends.size(), 3U);
}

TEST(programs_together, links_sleep_in_the_common_time_only) {
  simulation s = long_beside_short();
  s.power = {"deep-sleep", {{"hold", 0}}};
  const result r = simulate(s, {});
  for (const link_result& l : r.links) EXPECT_LE(l.deep_sleep, r.ended);
}

TEST(programs_together, stop_at_the_given_end) {
  simulation s = long_beside_short();
  s.end = 500 * us;
  const result r = simulate(s, {});
  EXPECT_EQ(r.ended, 500 * us);
  EXPECT_TRUE(r.jobs[0].run_ends.empty());
}

TEST(programs_together, do_not_run_beside_a_deadlocked_one_without_end) {
  simulation s = long_beside_short();
  const script waits = [](std::uint32_t rank, const completions&) -> stream { co_yield does::receive(1 - rank, 8, 0); };
  s.jobs[0].make = [waits](const job_setup& setup) { return play(setup, std::make_unique<scripted>(waits)); };
  EXPECT_THAT(failure(s),
              testing::AllOf(testing::HasSubstr("deadlocked"), testing::HasSubstr("in program, in a circle of 2")));
}

TEST(programs_together, may_have_processes_that_do_nothing) {
  simulation s = long_beside_short();
  const script of_two = pair_of(10 * us);
  s.jobs.pop_back();
  add_program(s, {2, 3, 4}, [of_two](std::uint32_t rank, const completions& done) -> stream {
    if (rank < 2) co_yield of_two(rank, done);
  }).name = "with an idle process";
  s.parameters["nodes_per_leaf"] = {5};
  const result r = simulate(s, {});
  EXPECT_EQ(r.jobs[1].run_ends.size(), static_cast<std::size_t>(r.ended / (10 * us + latency(8))));
}

TEST(programs_together, run_beside_traffic) {
  simulation s = long_beside_short();
  s.jobs.pop_back();
  job& traffic = s.jobs.emplace_back();
  traffic.name = "traffic";
  traffic.nodes = {2, 3};
  const result r = simulate(s, {});
  EXPECT_EQ(r.jobs[0].run_ends.size(), 1U);
  EXPECT_TRUE(r.jobs[1].run_ends.empty());
}

}  // namespace
}  // namespace lull::netsim
