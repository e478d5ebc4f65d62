// GOAL on one switch, where all times are known in closed form.
#include "netsim/goal/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "netsim/goal/goal_files.hpp"
#include "netsim/program/programs.hpp"

namespace lull::netsim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr picoseconds ns = 1000;

// The file on one switch, a rank on each node unless `nodes` says otherwise.
simulation run_of(const goal_file& file, values keys = {}, std::vector<std::uint32_t> nodes = {}) {
  const std::uint32_t ranks = ranks_of_goal(file.path());
  simulation s = one_switch(std::max<std::uint32_t>(2, ranks));
  job& j = s.jobs.emplace_back();
  j.name = "goal";
  j.pattern = "goal";
  if (nodes.empty())
    for (std::uint32_t rank = 0; rank < ranks; ++rank) nodes.push_back(rank);
  j.nodes = std::move(nodes);
  j.own = std::move(keys);
  j.make = [path = file.path()](const job_setup& setup) { return std::make_unique<goal_run>(setup, read_goal(path)); };
  return s;
}

// The longest path through what the operations waited for must be the run time, whatever they are. Returns whether all
// operations and messages came to their end.
bool has_its_longest_path(simulation s) {
  s.tolerance = 0.01;
  const job_result r = played(s);
  if (!r.tolerance || !r.remarks.empty()) return false;
  EXPECT_EQ(r.tolerance->run_time, static_cast<double>(r.ended - r.started));
  return true;
}

job_result ran(const std::string& text, values keys = {}) {
  const goal_file file(text);
  const simulation s = run_of(file, std::move(keys));
  (void)has_its_longest_path(s);
  return played(s);
}

std::string one_rank(const std::string& operations) { return "num_ranks 2\nrank 0 {\n" + operations + "}\n"; }

TEST(a_chain, takes_the_sum_of_its_calcs) {
  const job_result r = ran(one_rank("a: calc 100\nb: calc 200 cpu 1\nc: calc 300\nb requires a\nc requires b\n"));
  EXPECT_EQ(r.ended, 600 * ns);
  EXPECT_EQ(r.time->computing, 600 * ns);
  EXPECT_THAT(r.remarks, testing::IsEmpty());
}

TEST(a_fork, runs_on_two_cpus_at_the_same_time_and_joins_after_the_longer_part) {
  const std::string graph = "b requires a\nc requires a\nd requires b\nd requires c\n";
  EXPECT_EQ(ran(one_rank("a: calc 10\nb: calc 200 cpu 0\nc: calc 300 cpu 1\nd: calc 7\n" + graph)).ended, 317 * ns);
  EXPECT_EQ(ran(one_rank("a: calc 10\nb: calc 200\nc: calc 300\nd: calc 7\n" + graph)).ended, 517 * ns)
      << "operations on one cpu follow each other";
}

TEST(a_process, computes_while_any_of_its_cpus_does) {
  EXPECT_EQ(ran(one_rank("calc 200 cpu 0\ncalc 300 cpu 1\n")).time->computing, 300 * ns);
}

TEST(goal_runs_together, until_all_jobs_have_ended_one) {
  const goal_file exchange("num_ranks 3\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n");
  simulation s = run_of(exchange);  // rank 2 does nothing
  s.together = true;
  s.parameters["nodes_per_leaf"] = {5};
  const goal_file computes(one_rank("calc 100000\n"));
  s.jobs.push_back(run_of(computes).jobs.front());
  s.jobs.back().name = "computes";
  s.jobs.back().nodes = {3, 4};
  const result r = simulate(s, {});
  EXPECT_THAT(r.jobs[1].run_ends, ElementsAre(100'000 * ns));
  EXPECT_GE(r.jobs[0].run_ends.size(), 50U);
  EXPECT_GE(r.ended, 100'000 * ns);
}

TEST(irequires, waits_for_the_begin_only) {
  EXPECT_EQ(ran(one_rank("a: calc 100\nb: calc 100 cpu 1\nc: calc 100 cpu 2\nb requires a\nc irequires b\n")).ended,
            200 * ns);
}

TEST(a_computation, can_be_scaled_and_a_file_be_repeated) {
  const job_result r =
      ran(one_rank("a: calc 100\nb: calc 0\nb requires a\n"), {{"compute_scale", 2.5}, {"repeats", 3}});
  EXPECT_EQ(r.ended, 750 * ns);
  EXPECT_THAT(r.iteration_ends, ElementsAre(250 * ns, 500 * ns, 750 * ns));
}

TEST(a_file_without_operations, ends_at_once) {
  EXPECT_EQ(ran("num_ranks 2\n", {{"repeats", 5}}).iteration_ends.size(), 5U);
}

TEST(a_message, takes_the_latency_of_the_network) {
  const job_result r =
      ran("num_ranks 2\nrank 0 {\nw: calc 50\ns: send 1000b to 1 tag 3\ns requires w\n}\n"
          "rank 1 {\nr: recv 1000b from 0 tag 3\nw: calc 20\nw requires r\n}\n");
  EXPECT_EQ(r.ended, 70 * ns + latency(1000));
  EXPECT_EQ(r.messages, 1U);
}

TEST(a_long_message, asks_first) {
  EXPECT_EQ(ran("num_ranks 2\nrank 0 {\nsend 20000b to 1\n}\nrank 1 {\nrecv 20000b from 0\n}\n").ended,
            2 * latency(1) + latency(20'000));
}

TEST(the_overhead, occupies_the_cpu_of_the_operation) {
  const std::string receiver = "}\nrank 1 {\nrecv 8b from 0\n}\n";
  const values costs{{"overhead", std::int64_t{30 * ns}}};
  // The send occupies cpu 0 for 30 ns, so that a calc there begins later; on cpu 1 it does not.
  const job_result same = ran("num_ranks 2\nrank 0 {\nsend 8b to 1\ncalc 5000\n" + receiver, costs);
  EXPECT_EQ(same.ended, 5030 * ns);
  const job_result apart = ran("num_ranks 2\nrank 0 {\nsend 8b to 1\ncalc 5000 cpu 1\n" + receiver, costs);
  EXPECT_EQ(apart.ended, 5000 * ns);
  EXPECT_EQ(ran("num_ranks 2\nrank 0 {\nsend 8b to 1\n" + receiver, costs).ended, 60 * ns + latency(8));
}

TEST(a_receive_of_any, takes_the_first_message) {
  const job_result r =
      ran("num_ranks 3\nrank 0 {\nr: recv 8b from -1 tag -1\nw: calc 1000\nw requires r\nq: recv 8b from -1 tag 2\n"
          "q requires w\n}\nrank 1 {\nw: calc 9000\ns: send 8b to 0 tag 2\ns requires w\n}\n"
          "rank 2 {\nsend 8b to 0 tag 1\n}\n");
  EXPECT_EQ(r.ended, 9000 * ns + latency(8));
  EXPECT_THAT(r.remarks, testing::IsEmpty());
}

TEST(ranks_on_one_node, exchange_through_memory) {
  const goal_file file("num_ranks 2\nrank 0 {\nsend 1000b to 1\n}\nrank 1 {\nrecv 1000b from 0\n}\n");
  const job_result r = played(run_of(file, {}, {0, 0}));
  EXPECT_EQ(r.messages, 0U);
  EXPECT_EQ(r.memory_messages, 1U);
  EXPECT_EQ(r.ended, 500 * ns + 100 * ns);
}

TEST(what_does_not_match, is_named_at_the_end) {
  EXPECT_THAT(ran("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 4\n}\n").remarks,
              ElementsAre("1 message never received, the first from rank 0 to rank 1 (tag 4)"));
  const goal_file circle(
      "num_ranks 2\nrank 0 {\nr: recv 8b from 1\ns: send 8b to 1\ns requires r\n}\n"
      "rank 1 {\nr: recv 8b from 0\nt: recv 8b from 0 tag 9\ns: send 8b to 0\ns requires r\n}\n");
  EXPECT_THAT(
      failure(run_of(circle)),
      HasSubstr("2 processes are waiting at 0 ps for messages that no process sends: in goal, in a circle of 2, rank 0 "
                "waits for " +
                circle.path() + ":3: recv from rank 1 (tag 0), rank 1 waits for " + circle.path() +
                ":8: recv from rank 0 (tag 0) and 1 other operation"));
  const goal_file lonely("num_ranks 2\nrank 0 {\nsend 20000b to 1 tag 4\n}\n");
  EXPECT_THAT(failure(run_of(lonely)),
              HasSubstr("rank 0 waits for " + lonely.path() + ":3: send to rank 1 (tag 4), which has ended"));
}

TEST(several_nics, share_the_interface_of_the_node) {
  EXPECT_THAT(ran("num_ranks 2\nrank 0 {\ncalc 1 nic 1\n}\n").remarks,
              ElementsAre("operations name several nics; a node has one interface, which they share"));
}

// Ranks that send each other messages of all sizes on two CPUs, in an order that their edges leave open.
std::string some_goal(generator& random) {
  constexpr std::uint32_t ranks = 4;
  std::vector<std::string> operations(ranks), edges(ranks);
  std::vector<std::uint32_t> counts(ranks);
  const auto add = [&](std::uint32_t rank, const std::string& what) {
    const std::uint32_t number = counts[rank]++;
    operations[rank] += fmt::format("l{}: {} cpu {}\n", number, what, random.below(2));
    for (std::uint32_t before = 0; before < number; ++before)
      if (random.below(4) == 0)
        edges[rank] += fmt::format("l{} {} l{}\n", number, random.below(5) == 0 ? "irequires" : "requires", before);
  };
  for (std::uint32_t i = 0; i < 12; ++i) {
    const std::uint32_t from = random.below(ranks);
    const std::uint32_t to = (from + 1 + random.below(ranks - 1)) % ranks;
    const std::uint32_t bytes = random.below(3) == 0 ? 50'000 : 100;
    add(from, fmt::format("calc {}", random.below(3'000)));
    add(from, fmt::format("send {}b to {} tag {}", bytes, to, i));
    add(to, fmt::format("recv {}b from {} tag {}", bytes, from, i));
  }
  std::string text = fmt::format("num_ranks {}\n", ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    text += fmt::format("rank {} {{\n{}{}}}\n", rank, operations[rank], edges[rank]);
  return text;
}

TEST(a_random_file, is_as_long_as_its_longest_path) {
  int ended = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    generator random(seed);
    const std::string text = some_goal(random);
    const values keys{{"overhead", std::int64_t{random.below(2) * 200 * ns}},
                      {"repeats", std::int64_t{1 + random.below(2)}}};
    const goal_file file(text);
    simulation s = run_of(file, keys, {0, 1, 2, random.below(2) == 0 ? 2U : 3U});
    SCOPED_TRACE(text);
    ended += has_its_longest_path(s) ? 1 : 0;
  }
  EXPECT_GT(ended, 20);
}

}  // namespace
}  // namespace lull::netsim
