// Programs on one switch, where all times are known in closed form.
#include "netsim/program/player.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "netsim/program/programs.hpp"

namespace lull::netsim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

script ping_pong(std::uint64_t bytes, int rounds) {
  return [=](std::uint32_t rank, const completions& /*done*/) -> stream {
    for (int i = 0; i < rounds; ++i) {
      if (rank == 0) co_yield does::send(1, bytes, 7);
      co_yield does::receive(1 - rank, bytes, 7);
      if (rank == 1) co_yield does::send(0, bytes, 7);
      co_yield does::iteration();
    }
  };
}

TEST(a_short_message, leaves_at_once_and_takes_the_latency_of_the_network) {
  for (const std::int64_t bytes : {0, 1, 1000, 8192}) {
    simulation s = one_switch(2);
    add_program(s, {0, 1}, ping_pong(static_cast<std::uint64_t>(bytes), 5));
    const job_result r = played(s);
    EXPECT_EQ(r.ended, 10 * latency(bytes)) << bytes;
    EXPECT_EQ(r.messages, 10U);
    EXPECT_EQ(r.iteration_ends.size(), 5U);
    EXPECT_EQ(r.iteration_ends.front(), 2 * latency(bytes));
    EXPECT_THAT(r.remarks, testing::IsEmpty());
  }
}

TEST(a_long_message, asks_and_waits_for_the_answer_first) {
  for (const std::int64_t bytes : {8193, 100'000}) {
    simulation s = one_switch(2);
    add_program(s, {0, 1}, ping_pong(static_cast<std::uint64_t>(bytes), 5));
    const job_result r = played(s);
    EXPECT_EQ(r.ended, 10 * (2 * latency(1) + latency(bytes))) << bytes;
    EXPECT_EQ(r.messages, 30U);
    EXPECT_EQ(r.bytes, 10 * (2 + static_cast<std::uint64_t>(bytes)));
  }
}

TEST(a_long_message, goes_on_when_its_receive_comes) {
  simulation s = one_switch(2);
  add_program(s, {0, 1}, [](std::uint32_t rank, const completions&) -> stream {
    if (rank == 1) co_yield does::compute(50 * us);
    if (rank == 1) co_yield does::receive(0, 20'000, 1);
    if (rank == 0) co_yield does::send(1, 20'000, 1);
  });
  const job_result r = played(s);
  EXPECT_EQ(r.ended, 50 * us + latency(1) + latency(20'000));
  ASSERT_TRUE(r.time);
  EXPECT_EQ(r.time->computing, 50 * us);
  EXPECT_EQ(r.time->sending, 50 * us + latency(1) + leaving(20'000));
  EXPECT_EQ(r.time->waiting, latency(1) + latency(20'000));
}

TEST(a_synchronous_send, waits_for_its_receive_however_short_it_is) {
  simulation s = one_switch(2);
  add_program(s, {0, 1}, [](std::uint32_t rank, const completions&) -> stream {
    operation send = does::send(1, 8, 1);
    send.what = operation::kind::synchronous_send;
    if (rank == 0) co_yield send;
    if (rank == 1) co_yield does::compute(50 * us);
    if (rank == 1) co_yield does::receive(0, 8, 1);
  });
  EXPECT_EQ(played(s).time->sending, 50 * us + latency(1) + leaving(8));
}

TEST(a_short_send, is_over_when_the_message_has_left) {
  simulation s = one_switch(2);
  add_program(s, {0, 1}, [](std::uint32_t rank, const completions&) -> stream {
    if (rank == 0) co_yield does::send(1, 4000, 1);
  });
  const job_result r = played(s);
  EXPECT_EQ(r.time->sending, leaving(4000));
  EXPECT_THAT(r.remarks, ElementsAre("1 message never received, the first from rank 0 to rank 1 (tag 1)"));
}

TEST(the_limit_of_short_messages_overhead_and_envelope, are_keys) {
  simulation s = one_switch(2);
  add_program(s, {0, 1}, ping_pong(1000, 5), {{"eager", 999}, {"overhead", 2 * us}, {"envelope", 64}});
  EXPECT_EQ(played(s).ended, 10 * (4 * us + 2 * latency(64) + latency(1064)));
}

TEST(messages_of_a_sender, are_matched_in_order_whichever_way_they_take) {
  simulation s;
  s.topology = "fat-tree";
  s.parameters = {{"radix", {8}}};
  s.routing.algorithm = algorithm::minimal_random;
  // Long and short in turn: a receive that took another's message would have no room for it.
  const auto bytes = [](int i) { return i % 3 == 0 ? 8000ULL : 1ULL; };
  add_program(s, first_nodes(64), [=](std::uint32_t rank, const completions&) -> stream {
    for (int i = 0; i < 40; ++i) co_yield does::send((rank + 16) % 64, bytes(i), 5, static_cast<std::uint32_t>(i));
    for (int i = 0; i < 40; ++i) co_yield does::receive((rank + 48) % 64, bytes(i), 5);
    for (int i = 0; i < 40; ++i) co_yield does::wait(static_cast<std::uint32_t>(i));
  });
  EXPECT_EQ(failure(s), "");
}

TEST(a_receive, has_room_for_its_message_or_the_run_ends_with_a_line) {
  simulation s = one_switch(2);
  add_program(s, {0, 1}, [](std::uint32_t rank, const completions&) -> stream {
    if (rank == 0) co_yield does::send(1, 100, 5);
    if (rank == 1) co_yield does::receive(any, 8, any);
  });
  EXPECT_THAT(failure(s), HasSubstr("rank 0 sends 100 bytes to rank 1 (tag 5), which receives 8 at most"));
}

TEST(waiting_for_any, goes_on_with_whichever_is_complete_first) {
  simulation s = one_switch(3);
  std::vector<std::uint32_t> came;
  add_program(s, {0, 1, 2}, [&](std::uint32_t rank, const completions& done) -> stream {
    if (rank == 1) co_yield does::compute(30 * us);
    if (rank > 0) co_yield does::send(0, 8, 0);
    if (rank > 0) co_return;
    co_yield does::receive(1, 8, 0, 1);
    co_yield does::receive(2, 8, 0, 2);
    for (int left = 2; left > 0; --left) {
      co_yield does::wait_any();
      for (const std::uint32_t request : {1U, 2U})
        if (done.complete(request) && std::ranges::find(came, request) == came.end()) {
          came.push_back(request);
          co_yield does::wait(request);
        }
    }
    co_yield does::wait_any();  // with nothing to wait for: continues
  });
  EXPECT_EQ(played(s).ended, 30 * us + latency(8));
  EXPECT_THAT(came, ElementsAre(2, 1));
}

TEST(a_put, is_over_when_it_has_left_and_its_request_when_it_is_there) {
  const auto accesses = [](operation o) {
    return [=](std::uint32_t rank, const completions&) -> stream {
      if (rank > 0) co_return;
      co_yield o;
      if (o.request != no_request) co_yield does::wait(o.request);
    };
  };
  const auto ends = [&](operation::kind what, std::uint32_t request) {
    simulation s = one_switch(2);
    add_program(s, {0, 1}, accesses({.what = what, .peer = 1, .request = request, .bytes = 1000}));
    const job_result r = played(s);
    return r.time->sending + r.time->waiting;
  };
  EXPECT_EQ(ends(operation::kind::put, no_request), leaving(1000));
  EXPECT_EQ(ends(operation::kind::put, 0), latency(1000) + latency(1));
  EXPECT_EQ(ends(operation::kind::get, no_request), latency(1) + latency(1000));
  EXPECT_EQ(ends(operation::kind::get, 3), latency(1) + latency(1000));
  EXPECT_EQ(ends(operation::kind::atomic, no_request), 2 * latency(1000));
}

TEST(a_wait_for_a_put, goes_on_when_so_many_have_come) {
  simulation s = one_switch(2);
  add_program(s, {0, 1}, [](std::uint32_t rank, const completions&) -> stream {
    if (rank == 0) {
      co_yield does::iteration();
      co_yield does::iteration();
      co_yield operation{.what = operation::kind::put, .peer = 1, .bytes = 8};
      co_yield operation{.what = operation::kind::atomic, .peer = 1, .bytes = 8};
      co_yield does::compute(10 * us);
      co_yield operation{.what = operation::kind::put, .peer = 1, .bytes = 8};
    } else {
      co_yield operation{.what = operation::kind::get, .peer = 0, .request = 0, .bytes = 8};  // changes nothing
      co_yield operation{.what = operation::kind::await_put, .peer = 0, .bytes = 2};
      co_yield does::iteration();
      co_yield operation{.what = operation::kind::await_put, .peer = 0, .bytes = 3};
      co_yield does::iteration();
    }
  });
  const picoseconds atomic_there = leaving(8) + latency(8);
  const picoseconds put_there = atomic_there + latency(8) + 10 * us + latency(8);
  EXPECT_THAT(played(s).iteration_ends, ElementsAre(atomic_there, put_there));
  simulation in_vain = one_switch(2);
  add_program(in_vain, {0, 1}, [](std::uint32_t rank, const completions&) -> stream {
    if (rank == 1) co_yield operation{.what = operation::kind::await_put, .peer = 0, .bytes = 1};
  });
  EXPECT_THAT(failure(in_vain), HasSubstr("rank 1 waits for put 1 of rank 0, which has ended"));
}

TEST(a_wait_for_a_put, counts_those_of_the_same_run) {
  simulation s = one_switch(2);
  add_program(s, {0, 1}, [](std::uint32_t rank, const completions&) -> stream {
    if (rank == 0) {  // has finished all runs while the other still computes in its first
      co_yield operation{.what = operation::kind::put, .peer = 1, .bytes = 8};
      co_yield operation{.what = operation::kind::put, .peer = 1, .bytes = 8};
    } else {
      co_yield does::compute(50 * us);
      co_yield operation{.what = operation::kind::await_put, .peer = 0, .bytes = 2};
    }
  });
  s.jobs.front().own["repeats"] = 3;
  EXPECT_EQ(played(s).ended, 150 * us);
}

TEST(processes_of_a_node, exchange_messages_through_its_memory) {
  simulation s = one_switch(2);
  s.network.memory_delay = 300'000;
  s.network.memory_bandwidth = 20e9;
  add_program(s, {1, 1}, ping_pong(1000, 5));
  const job_result r = played(s);
  EXPECT_EQ(r.ended, 10 * (300'000 + 50 * 1000));
  EXPECT_EQ(r.messages, 0U);
  EXPECT_EQ(r.memory_messages, 10U);
  EXPECT_EQ(r.memory_bytes, 10'000U);
}

TEST(processes_of_a_node, send_over_its_one_link_to_others) {
  simulation s = one_switch(2);
  add_program(s, {0, 0, 1, 1}, [](std::uint32_t rank, const completions&) -> stream {
    if (rank < 2) co_yield does::send(rank + 2, 4000, 0);
    if (rank >= 2) co_yield does::receive(rank - 2, 4000, 0);
  });
  const job_result r = played(s);
  EXPECT_EQ(r.ended, latency(4000) + 80 * 4000);
  EXPECT_EQ(r.messages, 2U);
}

TEST(a_process, may_send_to_itself) {
  simulation s = one_switch(2);
  add_program(s, {0, 1}, [](std::uint32_t rank, const completions&) -> stream {
    co_yield does::send(rank, 20'000, 1, 0);
    co_yield does::receive(rank, 20'000, 1);
    co_yield does::wait(0);
  });
  EXPECT_EQ(played(s).memory_messages, 6U);
}

TEST(a_message_longer_than_the_network_carries, is_several) {
  simulation s = one_switch(2);
  s.network.packet = 1 << 23;
  s.network.input_buffer = s.network.output_buffer = 1 << 28;
  const std::uint64_t bytes = 5ULL << 29;
  add_program(s, {0, 1}, [=](std::uint32_t rank, const completions&) -> stream {
    if (rank == 0) co_yield does::send(1, bytes, 0);
    if (rank == 1) co_yield does::receive(0, bytes, 0);
  });
  const job_result r = played(s);
  EXPECT_EQ(r.messages, 5U);  // two of them are request and reply
  EXPECT_EQ(r.bytes, bytes + 2);
}

TEST(a_program, runs_as_often_as_it_is_asked) {
  simulation s = one_switch(2);
  add_program(s, {0, 1},
              [](std::uint32_t rank, const completions&) -> stream {
                co_yield does::compute(10 * us);
                co_yield does::send(1 - rank, 8, 0, 4);
                co_yield does::receive(1 - rank, 8, 0);
              },
              {{"repeats", 3}, {"compute_scale", 0.5}})
      .start = 7 * us;
  const job_result r = played(s);
  const picoseconds round = 5 * us + latency(8);
  EXPECT_THAT(r.iteration_ends, ElementsAre(7 * us + round, 7 * us + 2 * round, 7 * us + 3 * round));
  EXPECT_EQ(r.started, 7 * us);
  EXPECT_EQ(r.ended, 7 * us + 3 * round);
  EXPECT_EQ(r.time->computing, 2 * 3 * 5 * us);
  EXPECT_EQ(r.time->computing + r.time->sending + r.time->waiting, 2 * 3 * round);
}

TEST(a_program, that_is_cut_off_has_spent_its_time_until_then) {
  simulation s = one_switch(2);
  s.end = 20 * us;
  add_program(s, {0, 1}, [](std::uint32_t rank, const completions&) -> stream {
    if (rank == 0) co_yield does::compute(1000 * us);
    co_yield does::receive(1 - rank, 8, 0);
  });
  const job_result r = played(s);
  EXPECT_EQ(r.time->computing, 20 * us);
  EXPECT_EQ(r.time->waiting, 20 * us);
}

TEST(a_program, that_came_to_a_stand_before_the_end_says_so) {
  const auto remarks = [](picoseconds computing) {
    simulation s = one_switch(2);
    s.end = 20 * us;
    add_program(s, {0, 1}, [=](std::uint32_t rank, const completions&) -> stream {
      if (rank == 0) co_yield does::compute(computing);
      co_yield does::receive(1 - rank, 8, 3);
    });
    return played(s).remarks;
  };
  EXPECT_THAT(remarks(50 * us), testing::IsEmpty());
  EXPECT_THAT(remarks(10 * us), ElementsAre(HasSubstr("the processes are deadlocked: in a circle of 2, rank 0 waits")));
}

TEST(mistakes_of_programs, are_one_line_that_names_the_rank) {
  const auto failure_of = [](script runs) {
    simulation s = one_switch(2);
    add_program(s, {0, 1}, std::move(runs));
    return failure(s);
  };
  EXPECT_THAT(failure_of([](std::uint32_t, const completions&) -> stream { co_yield does::send(2, 8, 0); }),
              HasSubstr("run the program: rank 0 names rank 2, but there are 2 processes"));
  EXPECT_THAT(failure_of([](std::uint32_t rank, const completions&) -> stream {
                co_yield does::receive(1 - rank, 8, 0, 5);
                co_yield does::receive(1 - rank, 8, 0, 5);
              }),
              HasSubstr("rank 0 uses request 5 again before it has waited for it"));
  EXPECT_THAT(failure_of([](std::uint32_t rank, const completions&) -> stream {
                co_yield does::all_of(rank == 0 ? collective::barrier : collective::allreduce, 8);
              }),
              testing::AllOf(HasSubstr("a barrier"), HasSubstr("a allreduce"), HasSubstr("number 1 of group 0")));
}

TEST(processes_that_wait_for_each_other, are_named) {
  const auto failure_of = [](std::uint32_t size, script runs) {
    simulation s = one_switch(size);
    add_program(s, first_nodes(size), std::move(runs));
    return failure(s);
  };
  EXPECT_THAT(
      failure_of(2,
                 [](std::uint32_t rank, const completions&) -> stream { co_yield does::receive(1 - rank, 8, rank); }),
      HasSubstr(
          "2 processes are waiting at 0 ps for messages that no process sends: in program, in a circle of 2, rank 0 "
          "waits for a message of rank 1 (tag 0), rank 1 waits for a message of rank 0 (tag 1)"));
  EXPECT_THAT(failure_of(3,
                         [](std::uint32_t rank, const completions&) -> stream {
                           co_yield does::send((rank + 1) % 3, 1 << 20, 9);
                           co_yield does::receive((rank + 2) % 3, 1 << 20, 9);
                         }),
              HasSubstr("in a circle of 3, rank 0 waits for rank 1 to receive (tag 9), rank 1 waits"));
  EXPECT_THAT(failure_of(3,
                         [](std::uint32_t rank, const completions&) -> stream {
                           if (rank == 2) co_yield does::receive(0, 8, any);
                         }),
              HasSubstr("rank 2 waits for a message of rank 0 (any tag), which has ended"));
  EXPECT_THAT(failure_of(4,
                         [](std::uint32_t rank, const completions&) -> stream {
                           if (rank != 3) co_yield does::all_of(collective::barrier, 0);
                         }),
              HasSubstr("in a barrier"));
}

}  // namespace
}  // namespace lull::netsim
