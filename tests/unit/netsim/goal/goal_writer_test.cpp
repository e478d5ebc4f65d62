// A program written as GOAL takes as long as the program itself.
#include "netsim/goal/writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include "netsim/goal/goal_files.hpp"
#include "netsim/goal/run.hpp"
#include "netsim/program/programs.hpp"

namespace lull::netsim {
namespace {

using testing::HasSubstr;

constexpr picoseconds us = 1'000'000;

std::string written(const script& runs, std::uint32_t ranks, const groups& known = {}) {
  const goal_file file("");
  (void)write_goal(scripted(runs, known), ranks, file.path(), "write the program");
  std::stringstream text;
  text << std::ifstream(file.path()).rdbuf();
  return text.str();
}

std::string refused(const script& runs) {
  try {
    (void)written(runs, 2);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

// The end of the program, and of the same as GOAL.
void expect_same_time(const script& runs, std::uint32_t ranks, const groups& known = {}) {
  simulation own = one_switch(ranks);
  std::vector<std::uint32_t> nodes(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) nodes[rank] = rank;
  add_program(own, nodes, runs, {}, known);
  const goal_file file(written(runs, ranks, known));
  simulation as_goal = one_switch(ranks);
  job& j = as_goal.jobs.emplace_back();
  j.name = "goal";
  j.nodes = nodes;
  j.make = [&](const job_setup& setup) { return std::make_unique<goal_run>(setup, read_goal(file.path())); };
  const job_result one = played(own), other = played(as_goal);
  EXPECT_NEAR(static_cast<double>(other.ended), static_cast<double>(one.ended), 0.01 * static_cast<double>(one.ended));
  EXPECT_EQ(other.messages, one.messages);
  EXPECT_EQ(other.bytes, one.bytes);
  EXPECT_THAT(other.remarks, testing::IsEmpty());
}

TEST(a_program_as_goal, is_a_text_of_operations_and_their_order) {
  const std::string text = written(
      [](std::uint32_t rank, const completions&) -> stream {
        if (rank == 1) co_yield does::receive(0, 8, 3);
        if (rank == 1) co_yield does::compute(2 * us);
        if (rank == 1) co_return;
        co_yield does::send(1, 8, 3, 5);
        co_yield does::compute(us);
        co_yield does::wait(5);
        co_yield does::compute(us);
      },
      2);
  EXPECT_EQ(
      text,
      "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 3\nl2: calc 1000\nl2 irequires l1\nl3: calc 1000\n"
      "l3 requires l2\nl3 requires l1\n}\nrank 1 {\nl1: recv 8b from 0 tag 3\nl2: calc 2000\nl2 requires l1\n}\n");
}

TEST(a_program_as_goal, takes_as_long_with_requests) {
  for (const std::uint64_t bytes : {100U, 50'000U})
    expect_same_time(
        [=](std::uint32_t rank, const completions&) -> stream {
          for (int round = 0; round < 10; ++round) {
            co_yield does::receive((rank + 3) % 4, bytes, 1, 0);
            co_yield does::receive((rank + 1) % 4, bytes, 2, 1);
            co_yield does::compute((rank + 1) * us);
            co_yield does::send((rank + 1) % 4, bytes, 1, 2);
            co_yield does::send((rank + 3) % 4, bytes, 2, 3);
            co_yield does::wait(1);
            co_yield does::compute(us);
            for (const std::uint32_t request : {0U, 2U, 3U}) co_yield does::wait(request);
            co_yield does::iteration();
          }
        },
        4);
}

TEST(a_program_as_goal, takes_as_long_with_each_collective) {
  for (const auto which :
       {collective::barrier, collective::broadcast, collective::reduce, collective::allreduce, collective::allgather,
        collective::alltoall, collective::gather, collective::scatter, collective::reduce_scatter, collective::scan})
    for (const std::uint64_t bytes : {8U, 40'000U})
      for (const std::uint32_t ranks : {4U, 7U})
        expect_same_time(
            [=](std::uint32_t rank, const completions&) -> stream {
              for (int round = 0; round < 3; ++round) {
                co_yield does::compute((rank + 1) * us);
                co_yield does::all_of(which, bytes, 2);
              }
            },
            ranks);
}

TEST(a_program_as_goal, keeps_groups_and_collectives_that_overlap_apart) {
  expect_same_time(
      [](std::uint32_t rank, const completions&) -> stream {
        const std::uint32_t group = rank % 2 + 1, other = rank < 2 ? rank + 2 : rank - 2;
        operation early = does::all_of(collective::allreduce, 8000);
        early.request = 0;
        operation inner = does::all_of(collective::broadcast, 64, rank % 2, group);
        operation message = does::send(other, 512, 3, 1);
        message.group = group;
        operation taken = does::receive(other, 512, 3);
        taken.group = group;
        for (int round = 0; round < 5; ++round) {
          co_yield early;
          co_yield does::compute((rank + 1) * us);
          co_yield inner;
          co_yield message;
          co_yield taken;
          co_yield does::wait(1);
          co_yield does::wait(0);
        }
      },
      4, {{0, 2}, {1, 3}});
}

TEST(what_goal_cannot_say, is_rejected_and_nothing_is_written) {
  EXPECT_THAT(refused([](std::uint32_t, const completions&) -> stream {
                co_yield {.what = operation::kind::put, .peer = 1, .bytes = 8};
              }),
              HasSubstr("write the program: rank 0 puts, gets or changes data of other processes; GOAL has only"));
  EXPECT_THAT(refused([](std::uint32_t, const completions&) -> stream { co_yield does::receive(0, 8, any); }),
              HasSubstr("rank 0 receives any tag"));
  EXPECT_THROW((void)write_goal(scripted([](std::uint32_t, const completions&) -> stream { co_return; }), 2,
                                "/dev/null/x.goal", "write the program"),
               error);
}

TEST(a_synchronous_send, waits_for_its_receive_in_goal_too) {
  for (const bool blocks : {true, false})
    expect_same_time(
        [=](std::uint32_t rank, const completions&) -> stream {
          operation synchronous = does::send(1, 8, 1, blocks ? no_request : 0);
          synchronous.what = operation::kind::synchronous_send;
          for (int round = 0; round < 5; ++round) {
            if (rank == 0) {
              co_yield does::send(1, 8, 1);
              co_yield synchronous;
              co_yield does::send(1, 9, 1);
              co_yield does::compute(us);
              if (!blocks) co_yield does::wait(0);
              co_yield does::receive(1, 8, 1);
            } else {
              co_yield does::compute(20 * us);
              for (const std::uint64_t bytes : {8U, 8U, 9U}) {
                co_yield does::receive(0, bytes, 1, 3);
                co_yield does::wait(3);
              }
              operation back = synchronous;
              back.peer = 0;
              co_yield back;
              if (!blocks) co_yield does::wait(0);
            }
          }
        },
        2);
}

}  // namespace
}  // namespace lull::netsim
