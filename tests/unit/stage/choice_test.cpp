// The model's choice before a job runs, and its judgement afterwards.
#include "stage/accounts/choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lull::stage {
namespace {

std::string chosen_for(std::size_t processes, const plan& wanted) {
  const std::vector<std::string> nodes(processes, "a");
  return name_of(chosen(wanted, nodes));
}

TEST(stage_choice, what_nobody_has_named_is_chosen_by_the_cores_of_a_node) {
  const plan by_model{.by_model = true};
  EXPECT_EQ(chosen_for(1, by_model), "time-partitioning");
  EXPECT_EQ(chosen_for(4, by_model), "time-partitioning");
  EXPECT_EQ(chosen_for(24, by_model), "dedicated-cores=1");
}

TEST(stage_choice, a_slow_storage_is_worth_a_core_sooner) {
  EXPECT_EQ(chosen_for(4, {.storage_bytes_per_s = 10'000'000, .by_model = true}), "dedicated-cores=1");
}

TEST(stage_choice, what_is_named_stays) {
  EXPECT_EQ(chosen_for(4, {.how = approach::dedicated_cores, .count = 2}), "dedicated-cores=2");
}

// A run of 10 outputs, each after a second of computing.
job_figures run_of(int processes, std::int64_t write_ms) {
  constexpr std::int64_t ms = 1'000'000, outputs = 10;
  job_figures made;
  client_figures& of = made.clients;
  of.processes = processes;
  of.wall_ns = processes * outputs * (1000 + write_ms) * ms;
  of.writing_ns = processes * outputs * write_ms * ms;
  of.cpu_ns = processes * outputs * 1000 * ms;
  of.wrote_itself = {static_cast<std::uint64_t>(processes * outputs), 1'000'000'000};
  return made;
}

TEST(stage_advice, says_which_approach_would_have_been_best_and_by_how_much) {
  EXPECT_EQ(advice_of({}, run_of(4, 2000)), "  by the model, dedicated-cores=1 would have been best: 29 % less time");
  EXPECT_EQ(advice_of({}, run_of(4, 10)), "  by the model, no other approach would have been better");
  EXPECT_THAT(advice_of({.objective = model::output_objective::energy}, run_of(4, 2000)),
              testing::EndsWith("% less energy"));
}

TEST(stage_advice, says_how_far_the_model_misses_the_run) {
  job_figures slowed = run_of(4, 10);
  slowed.clients.stalled_ns = slowed.clients.wall_ns;
  slowed.clients.wall_ns *= 2;
  EXPECT_EQ(advice_of({}, slowed),
            "  by the model, no other approach would have been better; it misses the time of this run by 50 %");
}

TEST(stage_advice, knows_of_a_server_that_a_node_has_no_room_for) {
  EXPECT_NE(advice_of({.how = approach::dedicated_cores, .count = 3}, run_of(1, 10)), "");
}

TEST(stage_advice, a_run_without_output_gets_none) {
  job_figures silent = run_of(4, 10);
  silent.clients.wrote_itself = {};
  EXPECT_EQ(advice_of({}, silent), "");
}

}  // namespace
}  // namespace lull::stage
