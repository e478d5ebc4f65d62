// Sampled simulations: some units of a program are executed, and the whole is estimated from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>

#include "netsim/program/programs.hpp"

namespace lull::netsim {
namespace {

using testing::HasSubstr;

// Iterations of two kinds, each of which computes and exchanges a message; every tenth sends more.
script iterations(std::uint32_t number, picoseconds computing) {
  return [=](std::uint32_t rank, const completions& /*done*/) -> stream {
    for (std::uint32_t i = 0; i < number; ++i) {
      const std::uint64_t bytes = i % 10 == 9 ? 100'000 : 1'000;
      co_yield does::unit(i % 10 == 9 ? 1 : 0);
      co_yield does::compute(computing);
      co_yield does::receive(1 - rank, bytes, 0, 1);
      co_yield does::send(1 - rank, bytes, 0, 0);
      co_yield does::wait(1);
      co_yield does::wait(0);
    }
  };
}

simulation of_iterations(std::uint32_t number, picoseconds computing) {
  simulation s = one_switch(4);
  add_program(s, {0, 1}, iterations(number, computing));
  return s;
}

simulation sampled(simulation s, sample_parameters by = {}) {
  s.sample = by;
  return s;
}

double rest(const rest_by_group& of) {
  double sum = 0;
  for (const auto& group : {of.used, of.unused})
    for (const rest_of_links& kind : group) sum += static_cast<double>(kind.deep + kind.fast);
  return sum;
}
double rest(const result& of) {
  double sum = 0;
  for (const link_result& l : of.links) sum += static_cast<double>(l.deep_sleep + l.fast_wake);
  return sum;
}

TEST(a_sample, tells_the_time_of_a_program_whose_units_are_alike) {
  const simulation s = of_iterations(200, 1'000 * us);
  const result whole = simulate(s, {});
  const result part = simulate(sampled(s), {});
  EXPECT_NEAR(part.sampled->time / static_cast<double>(whole.ended), 1, 1e-6);
  EXPECT_EQ(part.sampled->jobs[0].run_time, part.sampled->time);
  EXPECT_NEAR(part.sampled->jobs[0].computing, 2.0 * 200 * 1'000 * us, 1);
  EXPECT_LE(part.packets, whole.packets / 5);
  EXPECT_NEAR(part.sampled->packet_hops, static_cast<double>(whole.packet_hops), 1);
}

TEST(a_sample, counts_the_units_of_each_kind) {
  const result part = simulate(sampled(of_iterations(200, 1'000 * us), {.units = 3}), {});
  const auto& units = part.sampled->jobs[0].units;
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units[0].count, 180U);
  EXPECT_EQ(units[1].count, 20U);
  EXPECT_EQ(units[0].measured, 3U);
  EXPECT_EQ(units[1].measured, 3U);
  EXPECT_LT(units[0].mean, units[1].mean);
}

TEST(a_sample, adds_the_computing_that_it_cuts) {
  const simulation s = of_iterations(20, 500'000 * us);
  const result whole = simulate(s, {});
  const result part = simulate(sampled(s, {.cut = 1'000 * us}), {});
  EXPECT_LT(part.ended, whole.ended / 100);
  EXPECT_NEAR(part.sampled->time / static_cast<double>(whole.ended), 1, 1e-6);
}

TEST(a_sample, tells_how_long_links_rest) {
  for (const power_parameters& mode :
       {power_parameters{"deep-sleep", {{"hold", 1'100'000}}}, power_parameters{"fast-wake", {{"hold", 1'100'000}}},
        power_parameters{"hybrid", {{"hold", 1'100'000}, {"hybrid_hold", 2'200'000}}}}) {
    SCOPED_TRACE(mode.mode);
    simulation s = of_iterations(200, 1'000 * us);
    s.power = mode;
    const result whole = simulate(s, {});
    const result part = simulate(sampled(s), {});
    EXPECT_NEAR(part.sampled->time / static_cast<double>(whole.ended), 1, 1e-5);
    const double all = static_cast<double>(whole.ended) * static_cast<double>(whole.links.size());
    // The last pauses of the whole run, which no packet ends, are not in the sample.
    EXPECT_NEAR(rest(part.sampled->rest) / all, rest(whole) / all, 1e-4);
  }
}

TEST(a_sample, of_jobs_that_run_together_has_their_runs_in_the_common_time) {
  simulation s = of_iterations(200, 1'000 * us);
  s.together = true;
  s.power = {"deep-sleep", {{"hold", 0}}};
  add_program(s, {2, 3}, iterations(30, 100 * us)).name = "short";
  const result whole = simulate(s, {});
  const result part = simulate(sampled(s), {});
  EXPECT_NEAR(part.sampled->time / static_cast<double>(whole.jobs[0].run_ends.front()), 1, 1e-4);
  const double of_short =
      static_cast<double>(whole.jobs[1].run_ends.back()) / static_cast<double>(whole.jobs[1].run_ends.size());
  EXPECT_NEAR(part.sampled->jobs[1].run_time / of_short, 1, 1e-4);
  const double all = static_cast<double>(whole.ended) * static_cast<double>(whole.links.size());
  EXPECT_NEAR(rest(part.sampled->rest) / all, rest(whole) / all, 1e-3);
  EXPECT_NEAR(part.sampled->packet_hops / static_cast<double>(whole.packet_hops), 1, 0.02);
}

TEST(a_sample, depends_on_its_seed_and_nothing_else) {
  const auto some = [](std::uint64_t seed) {
    simulation s = one_switch(4);
    // Every iteration takes another time.
    add_program(s, {0, 1}, [](std::uint32_t rank, const completions&) -> stream {
      for (std::uint32_t i = 0; i < 50; ++i) {
        co_yield does::unit(0);
        co_yield does::compute(i * us);
        co_yield does::receive(1 - rank, 8, 0, 1);
        co_yield does::send(1 - rank, 8, 0);
        co_yield does::wait(1);
      }
    });
    return simulate(sampled(std::move(s), {.units = 5, .seed = seed}), {}).sampled->time;
  };
  std::set<double> times;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    EXPECT_EQ(some(seed), some(seed));
    times.insert(some(seed));
    sum += some(seed);
  }
  EXPECT_GT(times.size(), 5U);
  const double exact = 50.0 * (24.5 * us + static_cast<double>(latency(8)));
  EXPECT_NEAR(sum / 40 / exact, 1, 0.05);  // no bias
}

TEST(a_sample, executes_programs_that_ask_what_has_arrived) {
  simulation s = one_switch(4);
  add_program(s, {0, 1}, [](std::uint32_t rank, const completions& done) -> stream {
    for (std::uint32_t i = 0; i < 50; ++i) {
      co_yield does::unit(0);
      co_yield does::receive(1 - rank, 8, 0, 1);
      co_yield does::send(1 - rank, 8, 0);
      while (!done.complete(1)) co_yield does::wait_any();
      co_yield does::wait(1);
    }
  });
  const double whole = static_cast<double>(simulate(s, {}).ended);
  EXPECT_NEAR(simulate(sampled(s), {}).sampled->time / whole, 1, 1e-3);
}

TEST(a_sample, is_refused_where_it_would_be_wrong) {
  simulation s = of_iterations(20, 1'000 * us);
  s.power = {"deep-sleep", {{"bound", 0.01}}};
  EXPECT_THAT(failure(sampled(s)), HasSubstr("depend on all packets before"));
  s.power = {"hybrid", {{"hold", 0}, {"hybrid_hold", 10'000 * us}}};
  EXPECT_THAT(failure(sampled(s)), HasSubstr("sample.cut is 30000 us, but links rest"));
  s.power = {};
  simulation ends = s;
  ends.end = 1'000 * us;
  EXPECT_THAT(failure(sampled(ends)), HasSubstr("end is set"));
  simulation saves = s;
  saves.savings = {{"deep-sleep", {{"wake_delays", false}}}};
  EXPECT_THAT(failure(sampled(saves)), HasSubstr("savings need all pauses"));
  job& traffic = s.jobs.emplace_back();
  traffic.name = "traffic";
  traffic.nodes = {2, 3};
  EXPECT_THAT(failure(sampled(s)), HasSubstr("uniform is a traffic pattern"));
}

TEST(a_sample, needs_units_that_are_the_same_in_all_processes) {
  const auto failure_of = [](const script& what) {
    simulation s = one_switch(4);
    add_program(s, {0, 1}, what);
    return failure(sampled(std::move(s)));
  };
  EXPECT_THAT(failure_of([](std::uint32_t, const completions&) -> stream { co_yield does::compute(us); }),
              HasSubstr("has no units"));
  EXPECT_THAT(failure_of([](std::uint32_t rank, const completions&) -> stream { co_yield does::unit(rank); }),
              HasSubstr("whose processes have different units"));
  EXPECT_THAT(failure_of([](std::uint32_t rank, const completions&) -> stream {
                co_yield does::unit(0);
                co_yield does::send(1 - rank, 100'000, 0, 0);
                co_yield does::unit(0);
                co_yield does::receive(1 - rank, 100'000, 0);
                co_yield does::wait(0);
              }),
              HasSubstr("begins a unit while it has 1 request to wait for"));
}

}  // namespace
}  // namespace lull::netsim
