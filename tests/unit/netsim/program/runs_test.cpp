// Whole programs on networks of every kind: nothing is lost, the same seed gives the same result, and both models of a
// switch agree where both are exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "netsim/instances.hpp"
#include "netsim/program/programs.hpp"

namespace lull::netsim {
namespace {

// A random program that ends whatever the network does: rounds in which each process computes, sends to as many others
// as it receives from, accesses memory, and takes part in collectives.
script some_program(std::uint32_t size, std::uint64_t seed) {
  return [=](std::uint32_t rank, const completions& /*done*/) -> stream {
    generator shared(seed);  // draws the same for all
    generator own(seed + 1 + rank);
    const unsigned rounds = 1 + shared.below(4);
    for (unsigned round = 0; round < rounds; ++round) {
      co_yield does::compute(own.below(3'000'000));
      const std::uint32_t partners = shared.below(4);
      for (std::uint32_t p = 0; p < partners; ++p) {
        const std::uint32_t distance = shared.below(size);
        const std::uint64_t bytes = std::uint64_t{1} << shared.below(16);
        co_yield does::receive(p % 2 == 0 ? (rank + size - distance) % size : any, bytes, 10 * round + p, 2 * p);
        operation send = does::send((rank + distance) % size, bytes, 10 * round + p, 2 * p + 1);
        if (shared.below(3) == 0) send.what = operation::kind::synchronous_send;
        co_yield send;
      }
      for (std::uint32_t request = 0; request < 2 * partners; ++request) co_yield does::wait(request);
      operation access{.what = operation::kind::put, .peer = own.below(size), .bytes = own.below(20'000)};
      const unsigned kind = own.below(3);
      if (kind > 0) access.what = kind == 1 ? operation::kind::get : operation::kind::atomic;
      co_yield access;
      const auto which = static_cast<collective>(shared.below(trace::collectives));
      co_yield does::all_of(which, shared.below(5'000), shared.below(size));
      co_yield does::iteration();
    }
  };
}

simulation some_run(const instance& on, std::uint64_t seed, unsigned per_node) {
  simulation s;
  s.seed = seed;
  s.topology = on.topology;
  s.parameters = on.parameters;
  const std::uint32_t nodes = std::min(on.build()->nodes(), 16U);
  std::vector<std::uint32_t> places;
  for (const std::uint32_t node : first_nodes(nodes)) places.insert(places.end(), per_node, node);
  if (places.size() < 2) places.push_back(places.front());
  generator random(seed);
  s.routing.algorithm = all_algorithms[random.below(all_algorithms.size())];
  if (random.below(2) == 0) s.power = {"deep-sleep", {{"hold", 1'100'000}}};
  const auto size = static_cast<std::uint32_t>(places.size());
  add_program(s, std::move(places), some_program(size, seed),
              {{"eager", std::int64_t{1} << random.below(16)}, {"overhead", std::int64_t{100'000} * random.below(3)}});
  return s;
}

std::string whole(const result& r) {
  std::string text = as_text(r);
  for (const job_result& j : r.jobs)
    text += fmt::format("{:a} {:a} {:a} {} {}", j.time->computing, j.time->sending, j.time->waiting, j.memory_messages,
                        fmt::join(j.remarks, "|"));
  return text;
}

class programs : public testing::TestWithParam<instance> {};

TEST_P(programs, end_with_everything_delivered_and_the_same_every_time) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const simulation s = some_run(GetParam(), seed, static_cast<unsigned>(1 + seed % 3));
    const result r = simulate(s, {});
    EXPECT_EQ(r.bytes_delivered, r.bytes_injected);
    EXPECT_EQ(r.messages_delivered, r.messages_created);
    const job_result& j = r.jobs.front();
    EXPECT_EQ(j.messages, r.messages_delivered);
    EXPECT_THAT(j.remarks, testing::IsEmpty());
    EXPECT_FALSE(j.iteration_ends.empty());
    EXPECT_TRUE(std::ranges::is_sorted(j.iteration_ends));
    EXPECT_LE(j.iteration_ends.back(), j.ended);
    EXPECT_LE(j.ended, r.ended);
    ASSERT_TRUE(j.time);
    EXPECT_LE(j.time->computing + j.time->sending + j.time->waiting,
              static_cast<double>(j.ended) * static_cast<double>(s.jobs.front().nodes.size()));
    EXPECT_EQ(whole(r), whole(simulate(s, {})));
  }
}

TEST_P(programs, take_as_long_by_both_models_of_a_switch) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    simulation s = some_run(GetParam(), seed, 2);
    s.routing.algorithm = algorithm::minimal;
    s.network.input_buffer = s.network.output_buffer = 1 << 29;
    s.network.queues = network_parameters::queue_model::automatic;
    const result quick = simulate(s, {});
    if (!quick.fifo) continue;  // this routing needs more channels
    s.network.queues = network_parameters::queue_model::explicit_queues;
    const result full = simulate(s, {});
    EXPECT_EQ(quick.messages_delivered, full.messages_delivered);
    EXPECT_EQ(quick.bytes_delivered, full.bytes_delivered);
    EXPECT_EQ(quick.jobs.front().time->computing, full.jobs.front().time->computing);
    // They differ in which of two packets goes first if both arrive at a port at the same time.
    EXPECT_NEAR(static_cast<double>(quick.jobs.front().ended) / static_cast<double>(full.jobs.front().ended), 1, 0.2);
  }
}

std::string name_of_network(const testing::TestParamInfo<instance>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(on, programs, testing::ValuesIn(small_instances()), name_of_network);

TEST(programs_of_several_jobs, share_a_network_beside_traffic) {
  simulation s;
  s.topology = "fat-tree";
  s.parameters = {{"radix", {8}}};
  for (std::uint32_t first : {0U, 32U}) {
    job& j = add_program(s, first_nodes(32, first), some_program(32, 7 + first));
    j.name = fmt::format("program {}", first);
  }
  job& traffic = s.jobs.emplace_back();
  traffic.name = "traffic";
  traffic.nodes = first_nodes(64, 64);
  const result r = simulate(s, {});
  EXPECT_EQ(r.messages_delivered, r.messages_created);
  EXPECT_TRUE(r.jobs[0].time);
  EXPECT_TRUE(r.jobs[1].time);
  EXPECT_FALSE(r.jobs[2].time);
}

TEST(a_node, has_processes_of_one_job) {
  simulation s = one_switch(4);
  const script nothing = [](std::uint32_t, const completions&) -> stream { co_return; };
  add_program(s, {0, 1, 1}, nothing);
  add_program(s, {2, 1}, nothing);
  EXPECT_THAT(failure(s), testing::HasSubstr("jobs.1.mapping names node 1, which another process has"));
}

}  // namespace
}  // namespace lull::netsim
