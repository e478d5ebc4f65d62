#include "trace/analysis.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "trace/functions.hpp"

namespace lull::trace {
namespace {

using testing::SizeIs;

constexpr std::uint64_t us = 1000;
constexpr double s = 1e-6;  // of a microsecond

// A trace of a few processes with one thread each, defined in the order of time.
class analysis_test : public testing::Test {
 protected:
  explicit analysis_test(std::uint32_t processes = 2) {
    all.length_ns = 1000 * us;
    std::vector<std::uint32_t> members(processes);
    std::iota(members.begin(), members.end(), 0U);
    for (const std::uint32_t p : members) {
      all.processes.push_back({.name = "p", .host = "h", .paradigm = "mpi", .rank = static_cast<int>(p)});
      all.locations.push_back({.name = "t", .process = p});
    }
    all.communicators = {{.name = "world", .members = members, .remote = {}}};
    all.windows = {{.name = "w", .communicator = 0}};
    all.metrics = {{.name = "J", .unit = "J", .host = "h"}};
    for (const char* name : {"MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Wait", "MPI_Barrier", "MPI_Bcast",
                             "MPI_Reduce", "MPI_Init", "MPI_File_write", "MPI_Test", "MPI_Iprobe"})
      all.regions.push_back({.name = name, .paradigm = "mpi", .what = role_of_function("mpi", name)});
    all.regions.push_back({.name = "main", .paradigm = "user", .what = role::code});
  }
  [[nodiscard]] std::uint32_t region(std::string_view name) const {
    return static_cast<std::uint32_t>(std::ranges::find(all.regions, name, &definitions::region::name) -
                                      all.regions.begin());
  }
  void enter(std::uint32_t p, std::uint64_t at, const char* name) {
    told.push_back({.time_ns = at * us, .location = p, .what = happening::enter, .region = region(name)});
  }
  void leave(std::uint32_t p, std::uint64_t at, const char* name) {
    told.push_back({.time_ns = at * us, .location = p, .what = happening::leave, .region = region(name)});
  }
  void tell(std::uint32_t p, std::uint64_t at, happening what, std::int32_t peer = -1, std::uint64_t bytes = 0,
            std::uint64_t request = 0, collective operation = collective::barrier) {
    told.push_back({.time_ns = at * us,
                    .location = p,
                    .what = what,
                    .operation = operation,
                    .communicator = 0,
                    .peer = peer,
                    .bytes = bytes,
                    .received = bytes,
                    .request = request});
  }
  // A call with one event at its begin or end.
  void send(std::uint32_t p, std::uint64_t begin, std::uint64_t end, std::int32_t to, std::uint64_t bytes = 8) {
    enter(p, begin, "MPI_Send");
    tell(p, begin, happening::send, to, bytes);
    leave(p, end, "MPI_Send");
  }
  void receive(std::uint32_t p, std::uint64_t begin, std::uint64_t end, std::int32_t from, std::uint64_t bytes = 8) {
    enter(p, begin, "MPI_Recv");
    tell(p, end, happening::receive, from, bytes);
    leave(p, end, "MPI_Recv");
  }
  void gather_in(std::uint32_t p, std::uint64_t begin, std::uint64_t end, const char* name, collective operation,
                 int root = -1) {
    enter(p, begin, name);
    tell(p, end, happening::collective_end, root, 16, 0, operation);
    leave(p, end, name);
  }
  analysis analyse(std::size_t bins = 10) {
    std::ranges::stable_sort(told, {}, &event::time_ns);
    analyser found(all, bins);
    for (const event& e : told) found.on(e);
    return found.result();
  }
  static double seconds(const analysis& a, std::uint32_t p, time_state state) {
    return a.processes[p].seconds[static_cast<std::size_t>(state)];
  }

  definitions all;
  std::vector<event> told;
};

TEST_F(analysis_test, tests_and_probes_that_find_nothing_are_polling) {
  enter(1, 100, "MPI_Test");
  leave(1, 300, "MPI_Test");
  enter(1, 300, "MPI_Iprobe");
  leave(1, 350, "MPI_Iprobe");
  enter(1, 400, "MPI_Irecv");
  tell(1, 400, happening::irecv_request, -1, 0, 5);
  leave(1, 410, "MPI_Irecv");
  enter(1, 500, "MPI_Test");
  tell(1, 520, happening::irecv, 0, 8, 5);
  leave(1, 520, "MPI_Test");
  const analysis a = analyse();
  EXPECT_NEAR(seconds(a, 1, time_state::polling), 250 * s, 1e-12);
  EXPECT_NEAR(seconds(a, 1, time_state::transfer), 30 * s, 1e-12);
}

TEST_F(analysis_test, a_receive_before_its_send_waits_for_a_late_sender) {
  enter(0, 0, "main");
  enter(1, 0, "main");
  receive(1, 100, 310, 0);
  send(0, 300, 305, 1);
  leave(0, 1000, "main");
  leave(1, 1000, "main");
  const analysis a = analyse();
  EXPECT_NEAR(seconds(a, 1, time_state::late_sender), 200 * s, 1e-12);
  EXPECT_NEAR(seconds(a, 1, time_state::transfer), 10 * s, 1e-12);
  EXPECT_NEAR(seconds(a, 1, time_state::compute), 790 * s, 1e-12);
  EXPECT_NEAR(seconds(a, 0, time_state::transfer), 5 * s, 1e-12);
  EXPECT_EQ(seconds(a, 0, time_state::late_receiver), 0);
  EXPECT_EQ(a.unmatched_sends + a.unmatched_receives + a.too_early, 0U);
}

TEST_F(analysis_test, a_send_that_lasts_beyond_the_post_of_its_receive_waited_for_it) {
  send(0, 100, 520, 1, 1 << 20);
  receive(1, 500, 530, 0, 1 << 20);
  const analysis a = analyse();
  EXPECT_NEAR(seconds(a, 0, time_state::late_receiver), 400 * s, 1e-12);
  EXPECT_NEAR(seconds(a, 0, time_state::transfer), 20 * s, 1e-12);
  EXPECT_EQ(seconds(a, 1, time_state::late_sender), 0);
}

TEST_F(analysis_test, a_send_that_ended_before_did_not_wait) {
  send(0, 100, 110, 1);
  receive(1, 500, 530, 0);
  EXPECT_EQ(seconds(analyse(), 0, time_state::late_receiver), 0);
}

TEST_F(analysis_test, a_receive_that_ends_before_its_send_does_too_is_matched_as_well) {
  send(0, 100, 600, 1, 1 << 20);
  receive(1, 500, 530, 0, 1 << 20);
  EXPECT_NEAR(seconds(analyse(), 0, time_state::late_receiver), 400 * s, 1e-12);
}

TEST_F(analysis_test, non_blocking_messages_wait_where_they_are_waited_for) {
  enter(1, 50, "MPI_Irecv");
  tell(1, 50, happening::irecv_request, -1, 0, 7);
  leave(1, 60, "MPI_Irecv");
  enter(0, 100, "MPI_Isend");
  tell(0, 100, happening::isend, 1, 64, 9);
  leave(0, 110, "MPI_Isend");
  enter(0, 120, "MPI_Wait");
  tell(0, 125, happening::isend_complete, -1, 0, 9);
  leave(0, 125, "MPI_Wait");
  enter(1, 80, "MPI_Wait");
  tell(1, 140, happening::irecv, 0, 64, 7);
  leave(1, 140, "MPI_Wait");
  const analysis a = analyse();
  EXPECT_NEAR(seconds(a, 1, time_state::late_sender), 20 * s, 1e-12);
  EXPECT_EQ(seconds(a, 0, time_state::late_receiver), 0);
  ASSERT_THAT(a.pairs, SizeIs(1));
  EXPECT_EQ(a.pairs[0].bytes, 64U);
}

TEST_F(analysis_test, of_several_messages_of_one_wait_the_latest_counts_once) {
  for (std::uint64_t r : {1U, 2U}) tell(1, r, happening::irecv_request, -1, 0, r);
  send(0, 200, 205, 1);
  send(0, 300, 305, 1);
  enter(1, 100, "MPI_Wait");
  tell(1, 400, happening::irecv, 0, 8, 1);
  tell(1, 400, happening::irecv, 0, 8, 2);
  leave(1, 400, "MPI_Wait");
  const analysis a = analyse();
  EXPECT_NEAR(seconds(a, 1, time_state::late_sender), 200 * s, 1e-12);
  EXPECT_NEAR(seconds(a, 1, time_state::transfer), 100 * s, 1e-12);
}

TEST_F(analysis_test, in_a_barrier_all_wait_for_the_last) {
  gather_in(0, 100, 410, "MPI_Barrier", collective::barrier);
  gather_in(1, 400, 412, "MPI_Barrier", collective::barrier);
  const analysis a = analyse();
  EXPECT_NEAR(seconds(a, 0, time_state::imbalance), 300 * s, 1e-12);
  EXPECT_NEAR(seconds(a, 0, time_state::transfer), 10 * s, 1e-12);
  EXPECT_EQ(seconds(a, 1, time_state::imbalance), 0);
  EXPECT_EQ(a.by_collective[0].calls, 2U);
  EXPECT_EQ(a.incomplete_collectives, 0U);
}

TEST_F(analysis_test, only_those_wait_who_depend_on_the_late) {
  gather_in(0, 100, 110, "MPI_Bcast", collective::broadcast, 0);  // the root
  gather_in(1, 50, 120, "MPI_Bcast", collective::broadcast, 0);
  gather_in(0, 200, 310, "MPI_Reduce", collective::reduce, 0);
  gather_in(1, 300, 305, "MPI_Reduce", collective::reduce, 0);
  const analysis a = analyse();
  EXPECT_NEAR(seconds(a, 1, time_state::imbalance), 50 * s, 1e-12);
  EXPECT_NEAR(seconds(a, 0, time_state::imbalance), 100 * s, 1e-12);
}

TEST_F(analysis_test, a_non_blocking_collective_waits_where_it_is_waited_for) {
  for (std::uint32_t p : {0U, 1U}) {
    tell(p, p == 0 ? 10 : 200, happening::icollective_request, -1, 0, 5);
    enter(p, p == 0 ? 100 : 210, "MPI_Wait");
    tell(p, 220, happening::icollective_complete, -1, 0, 5);
    leave(p, 220, "MPI_Wait");
  }
  const analysis a = analyse();
  EXPECT_NEAR(seconds(a, 0, time_state::imbalance), 100 * s, 1e-12);
  EXPECT_EQ(seconds(a, 1, time_state::imbalance), 0);
}

TEST_F(analysis_test, bins_hold_what_the_whole_does) {
  enter(0, 0, "main");
  receive(0, 150, 760, 1);
  send(1, 700, 710, 0);
  leave(0, 1000, "main");
  const analysis a = analyse(10);
  std::array<double, time_states> sums{};
  for (std::size_t b = 0; b < 10; ++b)
    for (std::size_t state = 0; state < time_states; ++state) sums[state] += a.in_bins[b * time_states + state];
  for (std::size_t state = 0; state < time_states; ++state)
    EXPECT_NEAR(sums[state], a.processes[0].seconds[state], 1e-9);
  EXPECT_NEAR(a.in_bins[3 * time_states + static_cast<std::size_t>(time_state::late_sender)], 100 * s, 1e-8);
  EXPECT_EQ(a.message_bytes_in_bins[6] + a.message_bytes_in_bins[7], 8U);
}

TEST_F(analysis_test, sizes_and_pairs_are_those_of_the_senders) {
  send(0, 10, 11, 1, 0);
  send(0, 20, 21, 1, 1);
  send(0, 30, 31, 1, 4096);
  send(1, 40, 41, 0, 4097);
  const analysis a = analyse();
  EXPECT_EQ(a.sizes[0], 1U);
  EXPECT_EQ(a.sizes[1], 1U);
  EXPECT_EQ(a.sizes[13], 2U);
  EXPECT_EQ(a.size_bytes[13], 8193U);
  EXPECT_EQ(a.processes[0].sent, 3U);
  EXPECT_EQ(a.processes[0].sent_bytes, 4097U);
  EXPECT_EQ(a.processes[0].gaps, 2U);
  EXPECT_NEAR(a.processes[0].gap_mean, 10 * s, 1e-12);
  EXPECT_EQ(a.unmatched_sends, 4U);
}

TEST_F(analysis_test, a_message_that_arrives_before_it_was_sent_is_counted) {
  receive(1, 100, 150, 0);
  send(0, 170, 180, 1);
  const analysis a = analyse();
  EXPECT_EQ(a.too_early, 1U);
  EXPECT_NEAR(a.most_too_early_s, 20 * s, 1e-12);
  EXPECT_EQ(a.unmatched_sends + a.unmatched_receives, 0U);
}

TEST_F(analysis_test, what_has_no_other_side_is_counted) {
  receive(1, 100, 150, 0);
  gather_in(0, 200, 210, "MPI_Barrier", collective::barrier);
  const analysis a = analyse();
  EXPECT_EQ(a.unmatched_receives, 1U);
  EXPECT_EQ(a.incomplete_collectives, 1U);
}

TEST_F(analysis_test, setup_and_files_are_told_apart_and_never_wait) {
  enter(0, 0, "MPI_Init");
  leave(0, 100, "MPI_Init");
  enter(0, 200, "MPI_File_write");
  leave(0, 260, "MPI_File_write");
  const analysis a = analyse();
  EXPECT_NEAR(seconds(a, 0, time_state::setup), 100 * s, 1e-12);
  EXPECT_NEAR(seconds(a, 0, time_state::files), 60 * s, 1e-12);
  EXPECT_EQ(a.functions[region("MPI_Init")].calls, 1U);
}

TEST_F(analysis_test, a_get_goes_from_its_target) {
  told.push_back({.time_ns = 10, .location = 0, .what = happening::get, .communicator = 0, .peer = 1, .bytes = 32});
  told.push_back({.time_ns = 20, .location = 0, .what = happening::put, .communicator = 0, .peer = 1, .bytes = 8});
  const analysis a = analyse();
  ASSERT_THAT(a.pairs, SizeIs(2));
  for (const traffic& t : a.pairs) EXPECT_EQ(t.one_sided_bytes, t.from == 1 ? 32U : 8U);
}

TEST_F(analysis_test, metrics_keep_their_last_value_in_each_bin) {
  for (std::uint64_t i = 0; i < 4; ++i)
    told.push_back({.time_ns = 60 * us * i,
                    .location = 0,
                    .what = happening::metric,
                    .region = 0,
                    .value = static_cast<double>(i)});
  const analysis a = analyse(10);
  EXPECT_EQ(a.metrics_in_bins[0][0], 1);
  EXPECT_EQ(a.metrics_in_bins[0][1], 3);
  EXPECT_TRUE(std::isnan(a.metrics_in_bins[0][2]));
}

}  // namespace
}  // namespace lull::trace
