// Skeletons on small networks: every byte arrives, every process ends, and the same seed gives the same result.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>

#include "netsim/runs.hpp"
#include "netsim/simulation.hpp"
#include "netsim/skeletons/rehearsal.hpp"

namespace lull::netsim {
namespace {

// Small inputs and almost no computing, so that the network dominates.
const std::map<std::string, std::map<std::string, value>> little{
    {"kripke", {{"zones", list{16, 16, 16}}, {"step_time", "1 ms"}}},
    {"laghos", {{"zones", list{16, 16, 16}}, {"cg_max_steps", 2}, {"step_time", "1 ms"}}},
    {"amg", {{"solves", 1}, {"step_time", "1 ms"}}},
    {"examinimd", {{"cells", list{12, 12, 12}}, {"steps", 20}, {"step_time", "1 ms"}}},
    {"sw4lite", {{"points", list{40, 40, 10}}, {"step_time", "1 ms"}}},
    {"minife", {{"elements", list{16, 16, 16}}, {"steps", 3}, {"step_time", "1 ms"}}},
    {"miniamr", {{"steps", 5}, {"step_time", "1 ms"}}},
    {"histogram", {{"items", 2000}, {"buffer_bytes", "1 KiB"}, {"hops", 2}}},
    {"index-gather", {{"items", 2000}, {"mode", "per-node"}, {"buffer_bytes", "1 KiB"}}},
    {"radix-sort", {{"items", 500}, {"digit_bits", 8}}}};

simulation on(const std::string& topology, parameters of, const std::string& pattern, std::uint32_t processes,
              std::uint32_t per_node) {
  simulation s;
  s.topology = topology;
  s.parameters = std::move(of);
  s.power = {"hybrid", {}};
  job& j = s.jobs.emplace_back();
  j.name = pattern;
  j.pattern = pattern;
  for (std::uint32_t rank = 0; rank < processes; ++rank) j.nodes.push_back(rank / per_node);
  for (const auto& [name, written] : little.at(pattern))
    j.own[name] = checked(*find(find_workload(pattern).keys, name), written, {"read the test"});
  return s;
}

result run(const simulation& s) {
  return simulate(s, [](const state_of_run&) { return true; });
}

class every_skeleton_on_a_network : public testing::TestWithParam<std::string> {};

TEST_P(every_skeleton_on_a_network, ends_and_loses_nothing) {
  const std::string name = GetParam();
  const simulation runs[] = {on("fat-tree", {{"radix", {4}}}, name, 16, 1),
                             on("hyperx", {{"dimensions", {3, 4}}, {"nodes_per_switch", {2}}}, name, 12, 1),
                             on("torus", {{"dimensions", {4, 4}}}, name, 48, 4)};
  for (const simulation& s : runs) {
    const result r = run(s);
    EXPECT_EQ(r.messages_created, r.messages_delivered) << s.topology;
    EXPECT_EQ(r.bytes_injected, r.bytes_delivered) << s.topology;
    EXPECT_TRUE(r.jobs[0].remarks.empty()) << s.topology << ": " << r.jobs[0].remarks[0];
    EXPECT_FALSE(r.jobs[0].iteration_ends.empty()) << s.topology;
    EXPECT_EQ(r.jobs[0].iteration_ends.back() <= r.jobs[0].ended, true);
  }
  EXPECT_EQ(as_text(run(runs[1])), as_text(run(runs[1])));
}

TEST_P(every_skeleton_on_a_network, its_longest_path_is_its_run_time) {
  simulation s = on("hyperx", {{"dimensions", {3, 4}}, {"nodes_per_switch", {2}}}, GetParam(), 32, 2);
  s.power = {};
  s.tolerance = 0.01;
  const result r = run(s);
  const job_result& j = r.jobs[0];
  EXPECT_EQ(j.tolerance->run_time, static_cast<double>(j.ended - j.started));
  EXPECT_EQ(j.tolerance->path.memory_messages + j.tolerance->path.messages > 0, true);
}

INSTANTIATE_TEST_SUITE_P(rows, every_skeleton_on_a_network,
                         testing::Values("kripke", "laghos", "amg", "examinimd", "sw4lite", "minife", "miniamr",
                                         "histogram", "index-gather", "radix-sort"),
                         [](const auto& of) {
                           std::string name = of.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

// On a network that takes almost no time, a program lasts as long as in its rehearsal.
TEST(skeletons_on_a_network, last_as_long_as_without_one_where_it_is_fast) {
  for (const char* name : {"kripke", "sw4lite", "examinimd"}) {
    simulation s = on("fat-tree", {{"radix", {4}}}, name, 16, 1);
    s.power = {};
    s.network.bandwidth = s.network.nic_bandwidth = 1e15;
    s.network.cable_delay = s.network.switch_delay = s.network.nic_delay = s.network.credit_delay = 1000;
    std::map<std::string, value> keys = little.at(name);
    keys["step_time"] = "10 s";
    s.jobs[0].own["step_time"] = checked(step_time_key(), keys["step_time"], {"read the test"});
    const rehearsed_job job(name, 16, keys);
    const auto alone = static_cast<double>(rehearsal(job).ended);
    EXPECT_NEAR(static_cast<double>(run(s).ended) / alone, 1, 0.01) << name;
  }
}

}  // namespace
}  // namespace lull::netsim
