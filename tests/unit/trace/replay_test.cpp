#include "trace/archive/replay.hpp"

#include <gmock/gmock.h>

#include "recorded.hpp"
#include "surroundings.hpp"

namespace lull::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class replay_test : public testing::Test {
 protected:
  void leave(const recorded_process& p) const { p.leave_in(folder_.path()); }
  // The events of a process by its place; afterwards `all` contains all definitions.
  std::vector<event> play(std::uint32_t process = 0) {
    raw_ = read_raw_folder(folder_.path());
    all = join(raw_);
    std::vector<const raw_process*> raws;
    for (const auto& p : all.processes) raws.push_back(p.raw);
    const joined_clocks clocks(raws);
    kept_events kept;
    left = replay(all, process, clocks, kept);
    return kept.events;
  }
  static std::vector<happening> whats(const std::vector<event>& events) {
    std::vector<happening> found;
    for (const event& e : events)
      if (e.what != happening::enter && e.what != happening::leave) found.push_back(e.what);
    return found;
  }

  joined all;
  left_over left;

 private:
  const temporary_folder folder_;
  std::vector<raw_process> raw_;
};

TEST_F(replay_test, a_send_lies_between_enter_and_leave_of_its_function) {
  recorded_process p;
  p.threads[0] = {call_of(kind::send, send_f, 2000, 2500, 1, 64, 7)};
  leave(p);
  leave({.rank = 1});
  const auto events = play();
  ASSERT_THAT(events, SizeIs(5));  // the program around it
  EXPECT_EQ(events[0].what, happening::enter);
  EXPECT_EQ(all.all.regions[events[0].region].name, "app");
  EXPECT_EQ(all.all.regions[events[1].region].name, "MPI_Send");
  EXPECT_EQ(events[1].time_ns, 1'000'002'000U);
  EXPECT_EQ(events[2].what, happening::send);
  EXPECT_EQ(events[2].peer, 1);
  EXPECT_EQ(events[2].bytes, 64U);
  EXPECT_EQ(events[2].tag, 7U);
  EXPECT_EQ(all.all.communicators[events[2].communicator].name, "MPI_COMM_WORLD");
  EXPECT_EQ(events[3].what, happening::leave);
  EXPECT_EQ(events[3].time_ns, 1'000'002'500U);
  EXPECT_EQ(events[4].time_ns, 1'001'000'000U);
  EXPECT_EQ(left.records, 1U);
}

TEST_F(replay_test, requests_are_followed_from_post_to_completion) {
  recorded_process p;
  p.threads[0] = {call_of(kind::call, isend_f, 2000, 2100), more_of(kind::posted_send, 0xa0, 1, 64, 7),
                  call_of(kind::call, irecv_f, 2200, 2300), more_of(kind::posted_receive, 0xb0, -1, 128),
                  call_of(kind::call, wait_f, 2400, 2500),  more_of(kind::tested, 0xa0),
                  call_of(kind::call, wait_f, 2600, 3000),  more_of(kind::completed, 0xa0),
                  more_of(kind::completed, 0xb0, 1, 100, 9)};
  leave(p);
  leave({.rank = 1});
  const auto events = play();
  EXPECT_THAT(whats(events), ElementsAre(happening::isend, happening::irecv_request, happening::request_tested,
                                         happening::isend_complete, happening::irecv));
  const auto received = std::ranges::find(events, happening::irecv, &event::what);
  EXPECT_EQ(received->peer, 1);
  EXPECT_EQ(received->bytes, 100U);
  EXPECT_EQ(received->tag, 9U);
  EXPECT_EQ(received->request, std::ranges::find(events, happening::irecv_request, &event::what)->request);
}

TEST_F(replay_test, a_persistent_request_begins_anew_each_time) {
  recorded_process p;
  p.threads[0] = {call_of(kind::call, send_f, 2000, 2100), more_of(kind::prepared_send, 1, 1, 8)};
  for (std::uint64_t round = 0; round < 2; ++round) {
    p.threads[0].push_back(call_of(kind::call, send_f, 3000 + 1000 * round, 3100 + 1000 * round));
    p.threads[0].push_back(more_of(kind::started, 1));
    p.threads[0].push_back(call_of(kind::call, wait_f, 3200 + 1000 * round, 3300 + 1000 * round));
    p.threads[0].push_back(more_of(kind::completed, 1));
  }
  p.threads[0].push_back(call_of(kind::call, wait_f, 9000, 9100));
  p.threads[0].push_back(more_of(kind::freed, 1));
  p.threads[0].push_back(call_of(kind::call, wait_f, 9200, 9300));
  p.threads[0].push_back(more_of(kind::completed, 1));
  leave(p);
  const auto events = play();
  EXPECT_THAT(whats(events),
              ElementsAre(happening::isend, happening::isend_complete, happening::isend, happening::isend_complete));
  EXPECT_EQ(left.unknown_requests, 1U);
}

TEST_F(replay_test, a_request_posted_by_one_thread_is_completed_by_another) {
  recorded_process p;
  p.threads = {{call_of(kind::call, irecv_f, 2000, 2100), more_of(kind::posted_receive, 5)},
               {call_of(kind::call, wait_f, 2200, 2300), more_of(kind::completed, 5, 1, 8)}};
  leave(p);
  const auto events = play();
  EXPECT_THAT(whats(events), ElementsAre(happening::irecv_request, happening::irecv));
  EXPECT_EQ(left.unknown_requests, 0U);
}

TEST_F(replay_test, nobody_is_no_peer) {
  recorded_process p;
  p.threads[0] = {call_of(kind::send, send_f, 2000, 2100, -2, 8), call_of(kind::receive, receive_f, 2200, 2300, -2, 8),
                  call_of(kind::call, isend_f, 2400, 2500),       more_of(kind::posted_send, 3, -2, 8),
                  call_of(kind::call, wait_f, 2600, 2700),        more_of(kind::completed, 3)};
  leave(p);
  EXPECT_THAT(whats(play()), IsEmpty());
}

TEST_F(replay_test, collectives_say_their_operation_and_what_both_ways_went) {
  recorded_process p;
  record reduced = call_of(kind::collective, reduce_f, 2000, 2100, 1, 64);
  p.threads[0] = {reduced,
                  more_of(kind::more_received, 0, -1, 0),
                  call_of(kind::call, ibarrier_f, 2200, 2300),
                  more_of(kind::posted_collective, 4),
                  call_of(kind::call, wait_f, 2400, 2500),
                  more_of(kind::completed, 4)};
  leave(p);
  const auto events = play();
  EXPECT_THAT(whats(events), ElementsAre(happening::collective_begin, happening::collective_end,
                                         happening::icollective_request, happening::icollective_complete));
  const auto ended = std::ranges::find(events, happening::collective_end, &event::what);
  EXPECT_EQ(ended->operation, collective::reduce);
  EXPECT_EQ(ended->peer, 1);
  EXPECT_EQ(ended->bytes, 64U);
  EXPECT_EQ(ended->received, 0U);
  EXPECT_EQ(std::ranges::find(events, happening::icollective_complete, &event::what)->operation, collective::barrier);
}

TEST_F(replay_test, one_sided_operations_are_complete_at_a_fence) {
  recorded_process p;
  p.definitions = {{{"is", "window"}, {"ticks", 0}, {"number", 3}, {"communicator", 0}, {"name", ""}}};
  record put = call_of(kind::put, put_f, 2000, 2100, 1, 256),
         fence = call_of(kind::window_collective, fence_f, 2200, 2300);
  put.comm = fence.comm = 3;
  p.threads[0] = {put, fence};
  leave(p);
  const auto events = play();
  EXPECT_THAT(whats(events), ElementsAre(happening::put, happening::window_collective_begin,
                                         happening::one_sided_complete, happening::window_collective_end));
  EXPECT_THAT(all.all.windows, SizeIs(1));
}

TEST_F(replay_test, communicators_of_the_same_members_are_told_apart_by_their_order) {
  const auto dup = [](int number, int ticks, const char* name) {
    return nlohmann::json{
        {"is", "communicator"}, {"ticks", ticks}, {"number", number}, {"members", {{0, 2}}}, {"name", name}};
  };
  recorded_process first{.definitions = {dup(1, 2000, "a"), dup(2, 3000, "b")}};
  recorded_process second{.rank = 1, .definitions = {dup(5, 2000, ""), dup(1, 3000, "")}};
  record on_b = call_of(kind::send, send_f, 4000, 4100, 0, 8);
  on_b.comm = 1;
  second.threads[0] = {on_b};
  leave(first);
  leave(second);
  const auto events = play(1);
  EXPECT_THAT(all.all.communicators, SizeIs(3));
  EXPECT_EQ(all.all.communicators[std::ranges::find(events, happening::send, &event::what)->communicator].name, "b");
}

TEST_F(replay_test, a_number_used_anew_means_the_new_communicator_from_then_on) {
  const auto part = [](int ticks, int member, const char* name) {
    return nlohmann::json{
        {"is", "communicator"}, {"ticks", ticks}, {"number", 1}, {"members", {{member, 1}}}, {"name", name}};
  };
  recorded_process p{.definitions = {part(2000, 0, "early"), part(5000, 0, "late")}};
  record early = call_of(kind::send, send_f, 3000, 3100, 0, 8), late = call_of(kind::send, send_f, 6000, 6100, 0, 8);
  early.comm = late.comm = 1;
  p.threads[0] = {early, late};
  leave(p);
  std::vector<std::string> names;
  for (const event& e : play())
    if (e.what == happening::send) names.push_back(all.all.communicators[e.communicator].name);
  EXPECT_THAT(names, ElementsAre("early", "late"));
}

TEST_F(replay_test, an_intercommunicators_peers_are_of_the_other_group) {
  const nlohmann::json to_two{{"is", "communicator"}, {"ticks", 0},         {"number", 1},
                              {"members", {{0, 1}}},  {"remote", {{1, 2}}}, {"name", "bridge"}};
  const nlohmann::json to_one{{"is", "communicator"}, {"ticks", 0},         {"number", 1},
                              {"members", {{1, 2}}},  {"remote", {{0, 1}}}, {"name", "bridge"}};
  leave({.rank = 0, .size = 3, .definitions = {to_two}});
  leave({.rank = 1, .size = 3, .definitions = {to_one}});
  leave({.rank = 2, .size = 3, .definitions = {to_one}});
  (void)play();
  ASSERT_THAT(all.all.communicators, SizeIs(2));
  const std::uint32_t bridge = all.all.communicators[0].name == "bridge" ? 0 : 1;
  EXPECT_EQ(all.all.peer_of(bridge, 0, 1), 2U);
  EXPECT_EQ(all.all.peer_of(bridge, 2, 0), 0U);
}

TEST_F(replay_test, a_killed_process_is_told_up_to_its_last_call) {
  recorded_process p{.size = 3, .killed = true};
  p.threads[0] = {call_of(kind::region_enter, barrier_f, 1500, 1500), call_of(kind::send, send_f, 2000, 2100, 1, 8)};
  leave(p);
  leave({.rank = 1, .size = 3});
  const auto events = play();
  EXPECT_THAT(whats(events), ElementsAre(happening::send));
  EXPECT_EQ(std::ranges::count(events, happening::enter, &event::what),
            std::ranges::count(events, happening::leave, &event::what));
  EXPECT_THAT(all.remarks, ElementsAre(HasSubstr("rank 0 was killed"), HasSubstr("rank 2 has left no records")));
}

TEST_F(replay_test, jobs_one_after_another_have_ranks_of_their_own) {
  leave({.rank = 0, .job = ""});
  leave({.rank = 1, .job = ""});
  leave({.rank = 0, .job = "", .pid = 500, .begin = 2'000'000, .end = 3'000'000});
  leave({.rank = 1, .job = "", .pid = 501, .begin = 2'000'000, .end = 3'000'000});
  (void)play();
  ASSERT_THAT(all.all.processes, SizeIs(4));
  EXPECT_EQ(all.all.processes[3].name, "job 2 rank 1");
  EXPECT_EQ(all.processes[3].raw->pid, 501);
  EXPECT_THAT(all.all.communicators, SizeIs(2));
}

TEST_F(replay_test, regions_that_another_library_of_the_process_records_are_around_its_calls) {
  recorded_process mpi, regions{.library = "-2"};
  mpi.threads[0] = {call_of(kind::send, send_f, 2000, 2500, 1, 8)};
  regions.definitions = {{{"is", "regions"}, {"paradigm", "user"}, {"first", first_user_region}, {"names", {"solve"}}}};
  regions.threads[0] = {call_of(kind::region_enter, first_user_region, 1900, 1900),
                        call_of(kind::region_leave, first_user_region, 2600, 2600)};
  leave(mpi);
  leave(regions);
  const auto events = play();
  std::vector<std::string> names;
  for (const event& e : events)
    if (e.what == happening::enter || e.what == happening::leave) names.push_back(all.all.regions[e.region].name);
  EXPECT_THAT(names, ElementsAre("app", "solve", "MPI_Send", "MPI_Send", "solve", "app"));
  EXPECT_EQ(std::ranges::count(all.all.locations, 0U, &definitions::location::process), 1);
}

TEST_F(replay_test, a_number_of_a_process_used_anew_is_another_process) {
  leave({.rank = 0, .size = 1, .pid = 100, .end = 10'000});
  leave({.rank = 0, .size = 1, .pid = 100, .begin = 20'000, .end = 30'000, .library = "-2"});
  (void)play();
  EXPECT_THAT(all.all.processes, SizeIs(2));
}

TEST_F(replay_test, time_never_goes_back) {
  recorded_process p;
  p.threads[0] = {call_of(kind::call, barrier_f, 2000, 2500), call_of(kind::call, barrier_f, 2490, 2600)};
  leave(p);
  EXPECT_TRUE(std::ranges::is_sorted(play(), {}, &event::time_ns));
}

}  // namespace
}  // namespace lull::trace
