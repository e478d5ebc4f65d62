// The conversion of a trace's calls, and which traces are rejected.
#include "netsim/traces/conversion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "netsim/traces/told_trace.hpp"

namespace lull::netsim {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

std::string failure_of(told_trace& t) {
  try {
    (void)t.converted();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

auto omitted(const char* name, std::uint64_t times) {
  return AllOf(Field(&not_replayed::name, name), Field(&not_replayed::times, times));
}

TEST(a_traced_process, computes_between_calls_and_not_in_them) {
  told_trace t(2);
  t.call(0, 1000, 1500, "MPI_Send", {to(1, 64, 5)});
  t.call(1, 1200, 1600, "MPI_Recv", {from(0, 64, 5)});
  t.enter(0, 0, "main");
  t.leave(0, 4000, "main");
  t.enter(1, 0, "main");
  t.leave(1, 2000, "main");
  EXPECT_THAT(t.replayed(0), ElementsAre("compute 1000 ns", "send 64 B to 1 tag 5", "compute 2500 ns"));
  EXPECT_THAT(t.replayed(1), ElementsAre("compute 1200 ns", "receive 64 B from 0 tag 5", "compute 400 ns"));
}

TEST(a_traced_process, begins_after_init_and_ends_with_finalize) {
  told_trace t(2);
  t.calls(1000, 9000, "MPI_Init");
  t.calls(9500, 9600, "MPI_Barrier", {together(collective::barrier)});
  t.calls(9700, 9900, "MPI_Finalize");
  t.enter(0, 9950, "main");
  t.leave(0, 20'000, "main");
  EXPECT_THAT(t.replayed(0), ElementsAre("compute 500 ns", "barrier 0 B root 0", "compute 100 ns"));
}

TEST(a_traced_process, counts_work_inside_the_library_as_its_own) {
  told_trace t(2);
  t.calls(0, 1, "MPI_Init");
  t.calls(101, 201, "MPI_Pack");
  t.calls(210, 220, "MPI_Initialized");
  t.calls(301, 400, "MPI_Barrier", {together(collective::barrier)});
  EXPECT_THAT(t.replayed(1), ElementsAre("compute 300 ns", "barrier 0 B root 0"));
}

TEST(a_traced_process, sends_while_it_receives_in_one_call) {
  told_trace t(2);
  t.call(0, 100, 200, "MPI_Sendrecv", {to(1, 8, 1), from(1, 16, 2)});
  t.call(1, 100, 200, "MPI_Sendrecv", {to(0, 16, 2), from(0, 8, 1)});
  EXPECT_THAT(t.replayed(0), ElementsAre("send 8 B to 1 tag 1 request 0", "receive 16 B from 1 tag 2", "wait 0"));
}

TEST(a_traced_process, waits_for_requests_in_the_order_in_which_they_were_complete) {
  told_trace t(2);
  t.call(0, 100, 110, "MPI_Irecv", {posts_receive(1)});
  t.call(0, 110, 120, "MPI_Irecv", {posts_receive(2)});
  t.call(0, 120, 130, "MPI_Isend", {posts_send(3, 1, 4, 9)});
  t.call(0, 200, 300, "MPI_Waitany", {has_received(2, 1, 32, 7)});
  t.call(0, 300, 400, "MPI_Waitall", {has_sent(3), has_received(1, 1, 8, 6)});
  t.call(1, 100, 120, "MPI_Send", {to(0, 32, 7)});
  t.call(1, 120, 130, "MPI_Send", {to(0, 8, 6)});
  t.call(1, 130, 400, "MPI_Recv", {from(0, 4, 9)});
  EXPECT_THAT(t.replayed(0),
              ElementsAre("receive 8 B from 1 tag 6 request 0", "receive 32 B from 1 tag 7 request 1",
                          "send 4 B to 1 tag 9 request 2", "compute 70 ns", "wait 1", "wait 2", "wait 0"));
}

TEST(a_traced_process, uses_numbers_of_requests_again) {
  told_trace t(2);
  for (std::uint64_t i = 0; i < 3; ++i) {
    t.call(0, 100 * i, 100 * i + 10, "MPI_Isend", {posts_send(i, 1, 4)});
    t.call(0, 100 * i + 10, 100 * i + 20, "MPI_Wait", {has_sent(i)});
    t.call(1, 100 * i, 100 * i + 50, "MPI_Recv", {from(0, 4)});
  }
  const auto found = t.replayed(0);
  EXPECT_EQ(std::ranges::count(found, "send 4 B to 1 tag 0 request 0"), 3);
  EXPECT_EQ(std::ranges::count(found, "wait 0"), 3);
}

TEST(a_traced_process, has_no_part_in_a_receive_that_was_cancelled) {
  told_trace t(2);
  t.call(0, 100, 110, "MPI_Irecv", {posts_receive(1)});
  t.call(0, 110, 120, "MPI_Wait", {message(happening::request_cancelled, -1, 0, 0, 1)});
  t.calls(120, 130, "MPI_Barrier", {together(collective::barrier)});
  EXPECT_THAT(t.replayed(0), ElementsAre("barrier 0 B root 0"));
}

TEST(a_traced_process, does_not_compute_while_it_polls) {
  told_trace t(2);
  t.calls(0, 1, "MPI_Init");
  t.call(0, 11, 20, "MPI_Irecv", {posts_receive(1)});
  t.call(0, 20, 40, "MPI_Test", {message(happening::request_tested, -1, 0, 0, 1)});
  t.call(0, 45, 65, "MPI_Test");    // a loop of tests
  t.call(0, 165, 185, "MPI_Test");  // it has done something else in between
  t.call(0, 190, 210, "MPI_Test", {has_received(1, 1, 8)});
  t.call(1, 1, 2, "MPI_Send", {to(0, 8)});
  EXPECT_THAT(t.replayed(0),
              ElementsAre("compute 10 ns", "receive 8 B from 1 tag 0 request 0", "compute 100 ns", "wait 0"));
}

TEST(a_traced_process, keeps_what_kinds_of_sends_promise) {
  told_trace t(2);
  t.call(0, 0, 10, "MPI_Ssend", {to(1, 8, 1)});
  t.call(0, 10, 20, "MPI_Bsend", {to(1, 1 << 20, 2)});
  t.call(0, 20, 30, "MPI_Issend", {posts_send(1, 1, 8, 3)});
  t.call(0, 30, 40, "MPI_Wait", {has_sent(1)});
  t.call(1, 0, 40, "MPI_Recv", {from(0, 8, 1)});
  t.call(1, 40, 50, "MPI_Recv", {from(0, 1 << 20, 2)});
  t.call(1, 50, 60, "MPI_Recv", {from(0, 8, 3)});
  EXPECT_THAT(t.replayed(0), ElementsAre("synchronous send 8 B to 1 tag 1", "send 1048576 B to 1 tag 2 request 0",
                                         "synchronous send 8 B to 1 tag 3 request 1", "wait 1"));
}

TEST(traced_collectives, have_the_bytes_that_all_their_processes_tell) {
  told_trace t(4);
  for (std::uint32_t p = 0; p < 4; ++p) {
    const bool root = p == 2;
    t.call(p, 10, 20, "MPI_Bcast", {together(collective::broadcast, root ? 64 : 0, root ? 0 : 64, 2)});
    t.call(p, 20, 30, "MPI_Reduce", {together(collective::reduce, 32, root ? 32 : 0, 2)});
    t.call(p, 30, 40, "MPI_Alltoallv", {together(collective::alltoallv, 16 * p, 24)});
    t.call(p, 40, 50, "MPI_Allgather", {together(collective::allgather, 8, 32)});
    t.call(p, 50, 60, "MPI_Gatherv", {together(collective::gatherv, 4 * p, root ? 24 : 0, 2)});
    t.call(p, 60, 70, "MPI_Scatter", {together(collective::scatter, root ? 40 : 0, 10, 2)});
    t.call(p, 70, 80, "MPI_Allreduce", {together(collective::allreduce, 8, 8)});
    t.call(p, 80, 90, "MPI_Reduce_scatter", {together(collective::reduce_scatter, 400, 100)});
  }
  EXPECT_THAT(t.replayed(1), ElementsAre("broadcast 64 B root 2", "reduce 32 B root 2", "alltoallv 6 B root 0",
                                         "allgather 8 B root 0", "gatherv 6 B root 2", "scatter 10 B root 2",
                                         "allreduce 8 B root 0", "reduce_scatter 400 B root 0"));
  EXPECT_EQ(t.replayed(0), t.replayed(3));
}

TEST(traced_collectives, of_score_p_count_each_partner) {
  told_trace t(4);
  t.all.creator = "Score-P 8.4";
  t.calls(0, 10, "MPI_Allreduce", {together(collective::allreduce, 4 * 8, 4 * 8)});
  EXPECT_THAT(t.replayed(0), ElementsAre("allreduce 8 B root 0"));
}

TEST(traced_collectives, that_do_not_block_match_in_the_order_in_which_they_begin) {
  told_trace t(2);
  for (std::uint32_t p = 0; p < 2; ++p) {
    t.call(p, 10, 20, "MPI_Ibarrier", {posts_together(1)});
    t.call(p, 20, 30, "MPI_Iallreduce", {posts_together(2)});
    const event barrier = has_joined(1, collective::barrier), sum = has_joined(2, collective::allreduce, 8);
    t.call(p, 30, 40, "MPI_Wait", {p == 0 ? barrier : sum});
    t.call(p, 40, 50, "MPI_Wait", {p == 0 ? sum : barrier});
  }
  EXPECT_THAT(t.replayed(0),
              ElementsAre("barrier 0 B root 0 request 0", "allreduce 8 B root 0 request 1", "wait 0", "wait 1"));
  EXPECT_THAT(t.replayed(1),
              ElementsAre("barrier 0 B root 0 request 0", "allreduce 8 B root 0 request 1", "wait 1", "wait 0"));
}

TEST(traced_collectives, are_of_the_group_of_their_communicator) {
  told_trace t(4);
  t.all.communicators.push_back({.name = "odd", .members = {1, 3}, .remote = {}});
  t.all.communicators.push_back({.name = "copy of the world", .members = {0, 1, 2, 3}, .remote = {}});
  t.all.communicators.push_back({.name = "self", .members = {}, .remote = {}});
  t.calls(0, 10, "MPI_Barrier", {together(collective::barrier, 0, 0, -1, 2)});
  t.calls(10, 20, "MPI_Barrier", {together(collective::barrier, 0, 0, -1, 3)});
  for (const std::uint32_t p : {1U, 3U}) t.call(p, 20, 30, "MPI_Bcast", {together(collective::broadcast, 8, 8, 1, 1)});
  const converted_trace made = t.converted();
  EXPECT_THAT(texts(made.operations->of(0)), ElementsAre("barrier 0 B root 0 group 2"));
  EXPECT_THAT(texts(made.operations->of(1)), ElementsAre("barrier 0 B root 0 group 2", "broadcast 8 B root 3 group 1"));
  EXPECT_THAT(made.groups.at(1), ElementsAre(1, 3));
  EXPECT_THAT(made.groups.at(2), ElementsAre(0, 1, 2, 3));
}

TEST(traced_collectives, that_make_communicators_are_barriers) {
  told_trace t(2);
  t.calls(0, 10, "MPI_Comm_split", {together(collective::create_handle)});
  t.calls(10, 20, "MPI_Comm_free", {together(collective::destroy_handle)});
  const converted_trace made = t.converted();
  EXPECT_THAT(texts(made.operations->of(0)), ElementsAre("barrier 0 B root 0"));
  EXPECT_THAT(made.left_out, IsEmpty());
}

TEST(traced_one_sided_operations, are_complete_where_the_trace_says_so) {
  told_trace t(2);
  t.call(0, 10, 20, "MPI_Put", {access(happening::put, 1, 64, 1)});
  t.call(0, 20, 30, "MPI_Get", {access(happening::get, 1, 32, 1)});
  t.call(0, 30, 40, "MPI_Win_fence", {is_at_target(1), fence()});
  t.call(1, 10, 40, "MPI_Win_fence", {fence()});
  EXPECT_THAT(t.replayed(0), ElementsAre("put 64 B at 1 request 0", "get 32 B at 1 request 1", "wait 0", "wait 1",
                                         "barrier 0 B root 0"));
}

TEST(traced_one_sided_operations, of_openshmem_are_complete_at_the_next_quiet) {
  told_trace t(2, "shmem");
  t.calls(0, 1, "shmem_init");
  t.call(0, 1, 20, "shmem_long_put",
         {access(happening::put, 1, 64, 1), message(happening::one_sided_blocking_complete, -1, 0, 0, 1)});
  t.call(0, 20, 30, "shmem_long_g", {access(happening::get, 1, 8, 1)});
  t.call(0, 30, 40, "shmem_long_atomic_fetch_add", {access(happening::atomic, 1, 8, 1)});
  t.call(0, 40, 50, "shmem_getmem_nbi", {access(happening::get, 1, 16, 1)});
  t.call(0, 50, 60, "shmem_fence");
  t.call(0, 60, 70, "shmem_quiet");
  t.call(0, 70, 80, "shmem_long_atomic_add", {access(happening::atomic, 1, 8, 2)});
  t.calls(80, 90, "shmem_barrier_all", {together(collective::barrier)});
  EXPECT_THAT(t.replayed(0),
              ElementsAre("put 64 B at 1 request 0", "get 8 B at 1", "atomic 8 B at 1", "get 16 B at 1 request 1",
                          "wait 0", "wait 1", "atomic 8 B at 1 request 1", "wait 1", "barrier 0 B root 0"));
}

TEST(a_traced_wait_on_memory, is_for_the_last_put_that_began_before_it_ended) {
  told_trace t(3, "shmem");
  t.calls(0, 1, "shmem_init");
  t.call(1, 10, 20, "shmem_long_p", {access(happening::put, 0, 8, 1)});
  t.call(1, 20, 30, "shmem_long_p", {access(happening::put, 0, 8, 1)});
  t.call(2, 20, 29, "shmem_long_p", {access(happening::put, 1, 8, 1)});
  t.call(0, 5, 35, "shmem_long_wait_until");
  t.call(2, 40, 50, "shmem_long_p", {access(happening::put, 0, 8, 1)});
  t.call(0, 40, 45, "shmem_long_wait_until");
  t.call(2, 60, 70, "shmem_long_wait_until");
  const converted_trace made = t.converted();
  EXPECT_THAT(texts(made.operations->of(0)),
              ElementsAre("compute 4 ns", "await 2 of 1", "compute 5 ns", "await 1 of 2"));
  EXPECT_THAT(made.left_out, ElementsAre(omitted("shmem_long_wait_until", 1)));
}

TEST(a_traced_allocation, of_symmetric_memory_is_a_barrier) {
  told_trace t(2, "shmem");
  t.calls(0, 10, "shmem_malloc");
  EXPECT_THAT(t.replayed(1), ElementsAre("barrier 0 B root 0"));
}

TEST(what_cannot_be_replayed, is_counted_by_name) {
  told_trace t(2);
  t.calls(0, 10, "MPI_Neighbor_alltoall", {together(collective::alltoall, 8, 8)});
  t.calls(10, 20, "MPI_Comm_spawn", {together(collective::create_handle)});
  t.calls(30, 40, "MPI_File_write_all");
  t.calls(50, 60, "MPI_Win_post");
  t.call(0, 60, 70, "MPI_Cart_sub");
  t.call(0, 70, 80, "MPI_Send", {to(7, 8)});
  t.call(0, 80, 90, "MPI_Probe");
  t.call(1, 60, 100, "MPI_Win_lock", {{.what = happening::lock_acquired, .communicator = 0, .peer = 0, .tag = 1}});
  const converted_trace made = t.converted();
  EXPECT_THAT(made.left_out,
              testing::UnorderedElementsAre(omitted("MPI_Neighbor_alltoall", 2), omitted("MPI_Comm_spawn", 2),
                                            omitted("MPI_File_write_all", 2), omitted("MPI_Win_post", 2),
                                            omitted("MPI_Cart_sub", 1),
                                            omitted("messages with partners that are not in the trace", 1),
                                            omitted("exclusive locks of windows", 1)));
  // The time of file operations counts as computing; operations that are not replayed are left out.
  EXPECT_THAT(texts(made.operations->of(0)), ElementsAre("barrier 0 B root 0", "compute 30 ns"));
  EXPECT_THAT(texts(made.operations->of(1)), ElementsAre("barrier 0 B root 0", "compute 30 ns", "atomic 8 B at 0"));
}

TEST(a_trace, has_the_iterations_of_a_region) {
  told_trace t(2);
  for (std::uint64_t i = 0; i < 2; ++i)
    for (std::uint32_t p = 0; p < 2; ++p) {
      t.enter(p, 100 * i, "step");
      t.call(p, 100 * i + 10, 100 * i + 20, "MPI_Barrier", {together(collective::barrier)});
      t.leave(p, 100 * i + 50, "step");
    }
  EXPECT_THAT(texts(t.converted("step").operations->of(0)),
              ElementsAre("compute 10 ns", "barrier 0 B root 0", "compute 30 ns", "iteration", "compute 60 ns",
                          "barrier 0 B root 0", "compute 30 ns", "iteration"));
  try {
    (void)t.converted("steps");
    FAIL();
  } catch (const error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("it has no region 'steps'"), HasSubstr("step")));
  }
}

TEST(a_trace, that_lacks_a_counterpart_is_refused) {
  told_trace sent(2);
  sent.call(0, 0, 10, "MPI_Send", {to(1, 8, 5)});
  sent.call(0, 10, 20, "MPI_Send", {to(1, 8, 5)});
  sent.call(1, 0, 10, "MPI_Send", {to(0, 8, 6)});
  EXPECT_THAT(failure_of(sent), HasSubstr("replay the trace x: rank 0 sends 2 messages to rank 1 with tag 5 that are "
                                          "never received, and 1 message more have no counterpart; "));
  told_trace received(2);
  received.call(1, 0, 10, "MPI_Recv", {from(0, 8, 5)});
  EXPECT_THAT(failure_of(received), HasSubstr("rank 1 receives 1 message from rank 0 with tag 5 that is never sent"));
  told_trace alone(3);
  alone.call(0, 0, 10, "MPI_Barrier", {together(collective::barrier)});
  alone.call(2, 0, 10, "MPI_Barrier", {together(collective::barrier)});
  EXPECT_THAT(failure_of(alone),
              HasSubstr("collective 1 of world (barrier) has 2 of its 3 processes: rank 1 never takes part"));
}

TEST(a_trace, in_which_processes_disagree_is_refused) {
  told_trace t(2);
  t.call(0, 0, 10, "MPI_Barrier", {together(collective::barrier)});
  t.call(1, 0, 10, "MPI_Allreduce", {together(collective::allreduce, 8, 8)});
  EXPECT_THAT(failure_of(t), HasSubstr("collective 1 of world is barrier for rank 0 and allreduce for rank 1"));
}

TEST(a_trace, that_is_no_job_is_refused) {
  told_trace empty(2);
  EXPECT_THAT(failure_of(empty), HasSubstr("it contains no events of a process that communicates"));
  told_trace silent(2);
  for (auto& p : silent.all.processes) p.rank = -1;
  EXPECT_THAT(failure_of(silent), HasSubstr("none of its processes communicates"));
  told_trace two_jobs(4);
  two_jobs.all.communicators = {{.name = "a", .members = {0, 1}, .remote = {}},
                                {.name = "b", .members = {2, 3}, .remote = {}}};
  two_jobs.calls(0, 10, "MPI_Pack");
  EXPECT_THAT(failure_of(two_jobs), HasSubstr("its 4 processes belong to 2 jobs without a common communicator"));
}

TEST(clocks_of_a_trace, that_differ_do_no_harm_and_are_told) {
  told_trace t(2);
  t.call(1, 0, 10, "MPI_Recv", {from(0, 8)});
  t.call(0, 3000, 3010, "MPI_Send", {to(1, 8)});
  const converted_trace made = t.converted();
  EXPECT_EQ(made.too_early, 1U);
  EXPECT_EQ(made.most_too_early_ns, 2990U);
  EXPECT_THAT(texts(made.operations->of(0)), ElementsAre("send 8 B to 1 tag 0"));
}

TEST(clocks_of_a_trace, that_go_back_stand_still_and_are_refused_where_they_do_so_far) {
  told_trace t(2);
  t.call(0, 100'000, 100'100, "MPI_Send", {to(1, 8)});
  t.call(0, 100'050, 100'300, "MPI_Send", {to(1, 8)});  // 50 ns back
  t.call(1, 100'000, 100'400, "MPI_Recv", {from(0, 8)});
  t.call(1, 100'400, 100'500, "MPI_Recv", {from(0, 8)});
  const converted_trace made = t.as_told();
  EXPECT_EQ(made.went_back, 1U);
  EXPECT_EQ(made.went_back_ns, 50U);
  EXPECT_THAT(texts(made.operations->of(0)), ElementsAre("send 8 B to 1 tag 0", "send 8 B to 1 tag 0"));
  t.call(1, 50'000, 50'100, "MPI_Pack");
  try {
    (void)t.as_told();
    FAIL();
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("its clocks go back 2 times, by "));
  }
}

TEST(threads_of_a_traced_process, may_communicate_in_turn_and_not_at_once) {
  told_trace t(2);
  t.all.locations.push_back({.name = "t2", .process = 0});
  t.call(0, 0, 10, "MPI_Send", {to(1, 8, 1)});
  t.call(2, 20, 30, "MPI_Send", {to(1, 8, 2)});
  t.call(0, 35, 40, "MPI_Send", {to(1, 8, 3)});
  for (std::uint32_t tag = 1; tag < 4; ++tag) t.call(1, 50 * tag, 50 * tag + 10, "MPI_Recv", {from(0, 8, tag)});
  EXPECT_THAT(t.replayed(0), ElementsAre("send 8 B to 1 tag 1", "compute 10 ns", "send 8 B to 1 tag 2", "compute 5 ns",
                                         "send 8 B to 1 tag 3"));
  t.call(2, 38, 60, "MPI_Send", {to(1, 8, 4)});
  t.call(1, 250, 260, "MPI_Recv", {from(0, 8, 4)});
  EXPECT_THAT(failure_of(t), HasSubstr("rank 0 communicates in two threads at the same time"));
}

TEST(a_killed_process, has_done_what_it_had_begun) {
  told_trace t(2);
  t.call(1, 0, 10, "MPI_Recv", {from(0, 8)});
  t.enter(0, 0, "MPI_Send");
  t.tell(0, 0, to(1, 8));
  EXPECT_THAT(t.replayed(0), ElementsAre("send 8 B to 1 tag 0"));
}

}  // namespace
}  // namespace lull::netsim
