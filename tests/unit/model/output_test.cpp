// Which approach should write: time, CPU use and energy of each follow from the machine and the simulation.
#include "model/costs/output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace lull::model {
namespace {

constexpr output_way time_partitioning{output_approach::time_partitioning, 0};
output_way cores(int count) { return {output_approach::dedicated_cores, count}; }
output_way nodes(int count) { return {output_approach::dedicated_nodes, count}; }

// 2 nodes of 4 cores; a step of 8 core seconds, 1 s on all cores. Copies cost almost nothing.
output_machine machine_of(double storage, double link = 1e9) {
  return {.nodes = 2,
          .cores = 4,
          .costs = {.storage_bytes_per_s = storage,
                    .writer_bytes_per_s = 1e12,
                    .link_bytes_per_s = link,
                    .copy_bytes_per_s = 1e18,
                    .computing_use = 0.8,
                    .writing_use = 0,
                    .waiting_use = 0,
                    .idle_node_watts = 50,
                    .busy_core_watts = 10}};
}
constexpr simulation five_steps_an_output{
    .core_seconds_per_step = 8, .steps = 100, .steps_per_output = 5, .bytes_per_output = 1e9};

TEST(model_output, time_partitioning_computes_and_writes_in_turn) {
  const auto made = predict_output(machine_of(1e9 / 3), five_steps_an_output, time_partitioning);
  EXPECT_NEAR(made.seconds, 20 * (5 + 3), 1e-6);
  EXPECT_NEAR(made.stall_seconds_per_output, 3, 1e-9);
  EXPECT_NEAR(made.cpu_use, 0.8 * 5 / 8, 1e-9);
  EXPECT_NEAR(made.watts, 2 * 50 + 8 * 0.5 * 10, 1e-6);
  EXPECT_NEAR(made.joules, made.watts * made.seconds, 1e-6);
}

TEST(model_output, a_dedicated_core_hides_what_is_written_while_the_others_compute) {
  const auto made = predict_output(machine_of(1e9 / 3), five_steps_an_output, cores(1));
  const double compute = 5 * 8.0 / 6;
  EXPECT_NEAR(made.seconds, 20 * compute + 3, 1e-6) << "the last output has nobody who computes meanwhile";
  EXPECT_NEAR(made.stall_seconds_per_output, 0, 1e-6);
  EXPECT_NEAR(made.write_seconds_per_output, 3, 1e-9);
}

TEST(model_output, clients_wait_when_their_servers_are_slower) {
  const auto made = predict_output(machine_of(1e8), five_steps_an_output, cores(1));
  const double compute = 5 * 8.0 / 6;
  EXPECT_NEAR(made.stall_seconds_per_output, 10 - compute, 1e-6);
  EXPECT_NEAR(made.seconds, compute + 20 * 10, 1e-6);
}

TEST(model_output, a_dedicated_node_is_as_fast_as_its_link) {
  const auto made = predict_output(machine_of(1e9, 1e9 / 20), five_steps_an_output, nodes(1));
  EXPECT_NEAR(made.seconds, 10 + 20 * 20 + 1, 1e-6);
  const auto fast = predict_output(machine_of(1e9, 1e9), five_steps_an_output, nodes(1));
  EXPECT_NEAR(fast.seconds, 20 * 10 + 1 + 1, 1e-6);
}

TEST(model_output, writers_hinder_each_other_where_the_machine_says_so) {
  output_machine on = machine_of(1e9);
  on.costs.writers_at_half_speed = 4;
  EXPECT_NEAR(predict_output(on, five_steps_an_output, time_partitioning).write_seconds_per_output, 3, 1e-9);
  EXPECT_NEAR(predict_output(on, five_steps_an_output, cores(1)).write_seconds_per_output, 1.5, 1e-9);
  on.costs.writer_bytes_per_s = 1e8;
  EXPECT_NEAR(predict_output(on, five_steps_an_output, cores(1)).write_seconds_per_output, 5, 1e-9);
}

TEST(model_output, who_waits_and_polls_uses_its_core) {
  output_machine on = machine_of(1e9 / 3);
  const double asleep = predict_output(on, five_steps_an_output, cores(1)).cpu_use;
  on.costs.waiting_use = 0.8;
  const auto polling = predict_output(on, five_steps_an_output, cores(1));
  EXPECT_GT(polling.cpu_use, asleep + 0.05);
  EXPECT_LE(polling.cpu_use, 0.8);
}

TEST(model_output, what_is_handed_over_is_copied_once_within_a_node_and_three_times_between_nodes) {
  output_machine on = machine_of(1e9);
  on.costs.computing_use = 0;  // only copies use a core
  on.costs.copy_bytes_per_s = 1e10;
  const auto core_seconds = [&](const output_way& way) {
    const auto made = predict_output(on, five_steps_an_output, way);
    return made.cpu_use * 8 * made.seconds;
  };
  EXPECT_NEAR(core_seconds(time_partitioning), 0, 1e-9);
  EXPECT_NEAR(core_seconds(cores(1)), 20 * 0.1, 1e-9);
  EXPECT_NEAR(core_seconds(nodes(1)), 3 * 20 * 0.1, 1e-9);
}

TEST(model_output, steps_after_the_last_output_count) {
  simulation what = five_steps_an_output;
  what.steps = 8;
  EXPECT_NEAR(predict_output(machine_of(1e9), what, time_partitioning).seconds, 8 + 1, 1e-6);
  what.steps = 4;
  EXPECT_NEAR(predict_output(machine_of(1e9), what, time_partitioning).seconds, 4, 1e-6);
}

TEST(model_output, every_way_leaves_a_client) {
  const auto all = ways_of({.nodes = 2, .cores = 3, .costs = {}});
  EXPECT_THAT(all, testing::ElementsAre(time_partitioning, cores(1), cores(2), nodes(1)));
  EXPECT_THAT(ways_of({}), testing::ElementsAre(time_partitioning));
}

TEST(model_output, the_best_comes_first_and_depends_on_the_objective) {
  // Two nodes hide the output of one step, but a core of each cannot be spared: dedicated nodes are no better.
  const auto slow =
      choose_output(machine_of(1e8), five_steps_an_output, ways_of(machine_of(1e8)), output_objective::time);
  EXPECT_EQ(slow.front().way, cores(1));
  EXPECT_TRUE(std::ranges::is_sorted(slow, {}, [](const output_choice& one) { return one.predicted.seconds; }));
  const auto fast =
      choose_output(machine_of(1e11), five_steps_an_output, ways_of(machine_of(1e11)), output_objective::energy);
  EXPECT_EQ(fast.front().way, time_partitioning) << "output that costs nothing is worth no core";
  EXPECT_EQ(cost_of(fast.front().predicted, output_objective::edp),
            fast.front().predicted.joules * fast.front().predicted.seconds);
}

TEST(model_output, names_are_those_of_the_setting) {
  for (const char* name : {"time-partitioning", "dedicated-cores=2", "dedicated-nodes=12"})
    EXPECT_EQ(name_of(way_of(name).value()), name);
  EXPECT_EQ(way_of("dedicated-nodes"), nodes(1));
  for (const char* name : {"", "auto", "dedicated-cores=0", "dedicated-cores=1x", "time-partitioning=1"})
    EXPECT_FALSE(way_of(name)) << name;
}

// The measurement of a run of `way` if the model were exact.
output_run measured(const output_machine& on, const simulation& what, int servers, double write_s) {
  const int clients = on.nodes * on.cores - servers;
  const double outputs = what.steps / what.steps_per_output;
  output_run run{.nodes = on.nodes, .clients = clients, .servers = servers, .outputs = outputs};
  run.compute_s = what.core_seconds_per_step * what.steps;
  run.client_cpu_s = on.costs.computing_use * run.compute_s;
  (servers > 0 ? run.server_write_s : run.client_write_s) = outputs * write_s * (servers > 0 ? servers : clients);
  (servers > 0 ? run.handed_over_bytes : run.wrote_itself_bytes) = outputs * what.bytes_per_output;
  return run;
}

TEST(model_output, a_run_shows_what_the_other_approaches_would_have_cost) {
  const output_machine on = machine_of(1e9 / 3);
  output_costs known = on.costs;
  known.storage_bytes_per_s = 1;  // the run determines it
  for (const output_way& way : {time_partitioning, cores(1)}) {
    const int servers = 2 * way.count;
    const auto found = case_of(std::array{measured(on, five_steps_an_output, servers, 3)}, known);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->machine.cores, 4);
    for (const output_way& other : ways_of(on))
      EXPECT_NEAR(predict_output(found->machine, found->what, other).seconds,
                  predict_output(on, five_steps_an_output, other).seconds, 1e-3)
          << name_of(way) << " says it of " << name_of(other);
  }
}

TEST(model_output, runs_with_other_numbers_of_writers_show_how_these_hinder_each_other) {
  output_machine on = machine_of(1e9);
  on.costs.writers_at_half_speed = 4;
  const auto run_by = [&](const output_way& way) {
    const double write_s = predict_output(on, five_steps_an_output, way).write_seconds_per_output;
    return measured(on, five_steps_an_output, 2 * way.count, write_s);
  };
  const auto found = case_of(std::array{run_by(time_partitioning), run_by(cores(1))}, machine_of(1).costs);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->machine.costs.storage_bytes_per_s, 1e9, 1);
  EXPECT_NEAR(found->machine.costs.writers_at_half_speed, 4, 1e-6);
  const auto other = cores(2);
  EXPECT_NEAR(predict_output(found->machine, found->what, other).seconds,
              predict_output(on, five_steps_an_output, other).seconds, 1e-3);
}

TEST(model_output, writers_that_get_more_together_the_more_they_are_are_each_too_slow) {
  output_machine on = machine_of(1e9);
  on.costs.writer_bytes_per_s = 1e8;
  const std::array runs{measured(on, five_steps_an_output, 2, 5), measured(on, five_steps_an_output, 0, 1.25)};
  const auto found = case_of(runs, machine_of(1).costs);
  ASSERT_TRUE(found);
  EXPECT_NEAR(predict_output(found->machine, found->what, cores(1)).write_seconds_per_output, 5, 1e-6);
  EXPECT_NEAR(predict_output(found->machine, found->what, cores(2)).write_seconds_per_output, 2.5, 1e-6);
  EXPECT_NEAR(predict_output(found->machine, found->what, time_partitioning).write_seconds_per_output, 1.25, 1e-6);
}

TEST(model_output, a_run_without_output_says_nothing) {
  EXPECT_FALSE(case_of({}));
  EXPECT_FALSE(case_of(std::array{output_run{.outputs = 0, .compute_s = 1}}));
  EXPECT_FALSE(case_of(std::array{output_run{.outputs = 3, .compute_s = 1}}));
}

TEST(model_output, what_is_assumed_of_a_simulation_scales_with_the_machine) {
  const output_machine few{.nodes = 1, .cores = 4, .costs = {}}, many{.nodes = 1, .cores = 24, .costs = {}};
  const auto best = [](const output_machine& on) {
    return choose_output(on, assumed_on(on), ways_of(on), output_objective::time).front().way;
  };
  EXPECT_EQ(best(few), time_partitioning);
  EXPECT_EQ(best(many), cores(1));
}

}  // namespace
}  // namespace lull::model
