// How long computing takes: imbalance between processes, and noise of each computation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "netsim/program/programs.hpp"

namespace lull::netsim {
namespace {

constexpr std::uint32_t processes = 16;
constexpr int steps = 1'000;
constexpr picoseconds each = 10 * us;

// Processes that only compute; a simulation needs a message, too.
script busy() {
  return [](std::uint32_t rank, const completions& /*done*/) -> stream {
    for (int step = 0; step < steps; ++step) co_yield does::compute(each);
    if (rank == 0) co_yield does::send(1, 8, 0);
    if (rank == 1) co_yield does::receive(0, 8, 0);
  };
}

job_result with(values keys, std::uint64_t seed = 1) {
  simulation s = one_switch(processes);
  s.seed = seed;
  std::vector<std::uint32_t> nodes(processes);
  for (std::uint32_t rank = 0; rank < processes; ++rank) nodes[rank] = rank;
  add_program(s, nodes, busy(), std::move(keys));
  return played(s);
}

double mean_of(const job_result& r) { return r.time->computing / (1.0 * processes * steps * each); }

TEST(computing, is_as_long_as_the_program_says) { EXPECT_EQ(mean_of(with({})), 1); }

TEST(computing, of_processes_differs_by_imbalance) {
  const job_result r = with({{"imbalance", 0.2}});
  EXPECT_NEAR(mean_of(r), 1, 0.1);
  EXPECT_NE(mean_of(r), 1);
  // The slowest of 16 is far from the mean, and not beyond the limit.
  const double slowest = static_cast<double>(r.ended) / (1.0 * steps * each);
  EXPECT_GT(slowest, 1.1);
  EXPECT_LT(slowest, 1.2 + 1e-3);
}

TEST(computing, takes_longer_by_noise) {
  const job_result r = with({{"noise", 0.05}});
  EXPECT_NEAR(mean_of(r), 1.05, 0.005);  // of 16,000 draws
  const double slowest = static_cast<double>(r.ended) / (1.0 * steps * each);
  EXPECT_LT(slowest, 1.06);  // it averages out within a process
}

TEST(computing, depends_on_the_seed_alone) {
  const values keys{{"imbalance", 0.2}, {"noise", 0.05}};
  EXPECT_EQ(with(keys).ended, with(keys).ended);
  EXPECT_NE(with(keys).ended, with(keys, 2).ended);
}

TEST(computing, of_two_jobs_differs) {
  simulation s = one_switch(4);
  add_program(s, {0, 1}, busy(), {{"imbalance", 0.5}});
  add_program(s, {2, 3}, busy(), {{"imbalance", 0.5}}).name = "other";
  const result r = simulate(s, {});
  EXPECT_NE(r.jobs[0].time->computing, r.jobs[1].time->computing);
}

}  // namespace
}  // namespace lull::netsim
