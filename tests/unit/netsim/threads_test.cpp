// Threads that simulate one network together give the result of one thread, to the bit, whatever their number.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "netsim/network/message_store.hpp"
#include "netsim/network/parts.hpp"
#include "netsim/random_simulations.hpp"
#include "netsim/runs.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {
namespace {

std::string result_of(simulation s, unsigned threads) {
  s.threads = threads;
  const result r = simulate(s, {});
  EXPECT_EQ(r.threads, std::min(threads, find_topology(s.topology).build(s.parameters)->switches()));
  return as_text(r);
}

// Ten cases of forty seeds, so that they run in parallel. The instances, algorithms, modes and loads are drawn.
class any_number_of_threads : public testing::TestWithParam<std::uint64_t> {};

TEST_P(any_number_of_threads, gives_the_same_result_to_the_bit) {
  for (std::uint64_t i = 0; i < 4; ++i) {
    simulation s = some_simulation(7000 + GetParam() * 4 + i);
    if (i == 3) s.end = 20'000'000;  // cut off
    SCOPED_TRACE(described(s));
    const std::string alone = result_of(s, 1);
    for (const unsigned threads : {2U, 3U, 4U}) ASSERT_EQ(result_of(s, threads), alone) << threads << " threads";
  }
}
INSTANTIATE_TEST_SUITE_P(netsim, any_number_of_threads, testing::Range<std::uint64_t>(0, 10));

simulation dense(const std::string& topology, const parameters& of, const char* mode, algorithm how) {
  simulation s;
  s.topology = topology;
  s.parameters = of;
  s.routing.algorithm = how;
  s.power.mode = mode;
  s.network.input_buffer = s.network.output_buffer = 16384;
  job j;
  j.nodes = first_nodes(find_topology(topology).build(of)->nodes());
  j.load = 1;
  j.messages = 12;
  s.jobs = {j};
  return s;
}

// More than 128 links, full queues and full buffers: events are sorted by every method, and ports wait for credits.
TEST(threads, give_the_same_result_to_the_bit_in_dense_traffic) {
  const std::vector<simulation> all{
      dense("fat-tree", {{"radix", {12}}}, "active", algorithm::adaptive),
      dense("hyperx", {{"dimensions", {4, 4, 3}}, {"nodes_per_switch", {4}}}, "hybrid", algorithm::valiant),
      dense("torus", {{"dimensions", {4, 4, 4}}}, "adaptive-rate", algorithm::minimal_random)};
  for (const simulation& s : all) {
    SCOPED_TRACE(s.topology);
    const std::string alone = result_of(s, 1);
    for (const unsigned threads : {2U, 5U}) ASSERT_EQ(result_of(s, threads), alone) << threads << " threads";
  }
}

TEST(threads, may_be_more_than_there_are_cores_or_switches) {
  simulation s = dense("torus", {{"dimensions", {4, 4}}}, "deep-sleep", algorithm::minimal);
  s.jobs[0].messages = 2;
  const std::string alone = result_of(s, 1);
  EXPECT_EQ(result_of(s, 16), alone);
  EXPECT_EQ(result_of(s, most_parts), alone);
}

TEST(threads, all_end_when_a_simulation_is_stopped_or_interrupted) {
  simulation s = dense("torus", {{"dimensions", {4, 4}}}, "active", algorithm::minimal);
  s.jobs[0].messages = 0;
  s.end = 1'000'000'000'000'000;
  s.threads = 3;
  picoseconds seen = 0;
  const result r = simulate(s, [&](const state_of_run& state) {
    seen = state.now;
    return false;
  });
  EXPECT_TRUE(r.stopped);
  EXPECT_EQ(r.ended, seen);
  EXPECT_GT(r.packets, 0U);
  EXPECT_THROW((void)simulate(s,
                              [](const state_of_run& state) -> bool {
                                if (state.events > 0) throw std::runtime_error("interrupted");
                                return true;
                              }),
               std::runtime_error);
}

#if !defined(__SANITIZE_THREAD__)
// Limits the memory so that the stack of one more thread fits, but not of two.
[[noreturn]] void simulate_without_room_for_threads(const simulation& s) {
  constexpr std::size_t stack = std::size_t{1} << 30U;
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t limit = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + stack + stack / 2;
  const rlimit both{limit, limit};
  pthread_attr_t large;
  pthread_attr_init(&large);
  pthread_attr_setstacksize(&large, stack);
  if (pthread_setattr_default_np(&large) != 0 || setrlimit(RLIMIT_AS, &both) != 0) std::exit(2);
  try {
    (void)simulate(s, {});
  } catch (const error& e) {
    fmt::print(stderr, "{}\n", e.what());
    std::exit(1);
  }
  std::exit(0);
}

TEST(threads, that_cannot_all_be_started_are_an_error_and_end) {
  simulation s = dense("torus", {{"dimensions", {4, 4}}}, "active", algorithm::minimal);
  s.threads = 4;
  EXPECT_EXIT(simulate_without_room_for_threads(s), testing::ExitedWithCode(1),
              "simulate the network: thread 2 of 4 cannot be started; set threads to fewer");
}
#endif

TEST(threads, simulate_a_program_alone_and_say_so) {
  simulation s = dense("torus", {{"dimensions", {4, 4}}}, "active", algorithm::minimal);
  s.jobs[0].make = [](const job_setup& setup) { return find_workload("uniform").make(setup); };  // may be one
  s.threads = 2;
  const result r = simulate(s, {});
  EXPECT_EQ(r.threads, 1U);
  ASSERT_FALSE(r.jobs[0].remarks.empty());
  EXPECT_EQ(r.jobs[0].remarks.back(), "simulated by one thread, because programs cannot use several");
}

TEST(messages_of_part, are_used_again_by_the_part_that_took_them) {
  message_store store(2);
  messages_of_part one(store, 0), other(store, 1);
  const std::uint32_t first = one.take();
  const std::uint32_t second = other.take();
  EXPECT_NE(first, second);
  EXPECT_EQ(one.maker(second), 1U);
  const message* const before = &one[first];
  for (std::uint32_t i = 0; i < 3U << message_store::chunk_bits; ++i) (void)other.take();
  EXPECT_EQ(&one[first], before);
  one.put_back(first);
  EXPECT_EQ(one.take(), first);
}

}  // namespace
}  // namespace lull::netsim
