#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>

#include "base/error.hpp"
#include "recorded.hpp"
#include "surroundings.hpp"
#include "trace/analysis.hpp"
#include "trace/archive/archive_reader.hpp"
#include "trace/archive/archive_writer.hpp"

namespace lull::trace {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class archive_test : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path raw() const { return folder_.path() / "raw"; }
  void leave(const recorded_process& p) const { p.leave_in(raw()); }
  conversion convert() const { return write_archive(raw(), folder_.path()); }
  [[nodiscard]] std::vector<event> read() const {
    archive_reader archive(folder_.path());
    kept_events kept;
    archive.read(kept);
    return kept.events;
  }
  // The errors that otf2-print finds; empty if it is not installed. A preload is only for the processor of this program.
  [[nodiscard]] std::string complaints() const {
    const std::string out = (folder_.path() / "printed").string();
    if (std::system("command -v otf2-print > /dev/null") != 0) return "";  // NOLINT(concurrency-mt-unsafe)
    const std::string command =
        fmt::format("LD_PRELOAD= otf2-print -A {} > /dev/null 2> {}", (folder_.path() / "traces.otf2").string(), out);
    const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe)
    std::ifstream file(out);
    const std::string said{std::istreambuf_iterator<char>(file), {}};
    return status == 0 ? said : said + "it failed";
  }
  // Two ranks with some events of every kind.
  void leave_all_kinds() const {
    recorded_process a, b{.rank = 1};
    a.definitions =
        b.definitions = {{{"is", "window"}, {"ticks", 0}, {"number", 0}, {"communicator", 0}, {"name", ""}}};
    a.threads[0] = {call_of(kind::call, init, 1100, 1200),
                    call_of(kind::send, send_f, 2000, 2500, 1, 64, 7),
                    call_of(kind::call, isend_f, 2600, 2700),
                    more_of(kind::posted_send, 0xa, 1, 1 << 20),
                    call_of(kind::call, wait_f, 2800, 2900),
                    more_of(kind::completed, 0xa),
                    call_of(kind::put, put_f, 3000, 3100, 1, 256),
                    call_of(kind::window_collective, fence_f, 3200, 3300),
                    call_of(kind::collective, bcast_f, 3400, 3500, 0, 32),
                    call_of(kind::call, ibarrier_f, 3600, 3700),
                    more_of(kind::posted_collective, 0xb),
                    call_of(kind::call, wait_f, 3800, 3900),
                    more_of(kind::completed, 0xb)};
    b.threads[0] = {call_of(kind::call, init, 1100, 1200),
                    call_of(kind::receive, receive_f, 1500, 2600, 0, 64, 7),
                    call_of(kind::call, irecv_f, 2610, 2620),
                    more_of(kind::posted_receive, 0xc, -1, 1 << 20),
                    call_of(kind::call, wait_f, 2630, 2950),
                    more_of(kind::completed, 0xc, 0, 1 << 20),
                    call_of(kind::window_collective, fence_f, 3150, 3300),
                    call_of(kind::collective, bcast_f, 3400, 3550, 0, 0),
                    more_of(kind::more_received, 0, -1, 32),
                    call_of(kind::call, ibarrier_f, 3600, 3700),
                    more_of(kind::posted_collective, 0xb),
                    call_of(kind::call, wait_f, 3800, 3900),
                    more_of(kind::completed, 0xb)};
    leave(a);
    leave(b);
  }

  // A communicator that includes another job, whose ranks a process does not know.
  static nlohmann::json reaching(int number, std::uint64_t ticks, int mine, int theirs) {
    nlohmann::json others = nlohmann::json::array();
    for (int i = 0; i < theirs; ++i) others.push_back({-1, 1});
    return {{"is", "communicator"},   {"ticks", ticks},   {"number", number},
            {"members", {{0, mine}}}, {"remote", others}, {"name", ""}};
  }
  [[nodiscard]] analysis analysed() const {
    archive_reader archive(folder_.path());
    analyser visitor(archive.all(), 1);
    archive.read(visitor);
    return visitor.result();
  }

  const temporary_folder folder_;
};

record over(int communicator, record r) {
  r.comm = static_cast<std::uint16_t>(communicator);
  return r;
}

TEST_F(archive_test, what_is_written_is_read_again) {
  leave_all_kinds();
  const conversion made = convert();
  EXPECT_THAT(made.remarks, IsEmpty());
  EXPECT_EQ(made.records, 26U);
  const auto events = read();
  EXPECT_EQ(events.size(), made.events);
  EXPECT_TRUE(std::ranges::is_sorted(events, {}, &event::time_ns));
  EXPECT_EQ(events.front().time_ns, 0U);
  for (const auto what :
       {happening::send, happening::receive, happening::isend, happening::isend_complete, happening::irecv_request,
        happening::irecv, happening::put, happening::one_sided_complete, happening::window_collective_end,
        happening::collective_end, happening::icollective_request, happening::icollective_complete})
    EXPECT_THAT(events, Contains(testing::Field(&event::what, what)));
  const auto sent = std::ranges::find(events, happening::send, &event::what);
  EXPECT_EQ(sent->time_ns, 1000U);  // since the begin
  EXPECT_EQ(sent->bytes, 64U);
  EXPECT_EQ(sent->tag, 7U);
  const auto broadcast = std::ranges::find(events, happening::collective_end, &event::what);
  EXPECT_EQ(broadcast->operation, collective::broadcast);
  EXPECT_EQ(broadcast->peer, 0);
  EXPECT_EQ(complaints(), "");
}

TEST_F(archive_test, definitions_name_processes_functions_and_communicators) {
  leave_all_kinds();
  (void)convert();
  const archive_reader archive(folder_.path());
  const definitions& all = archive.all();
  EXPECT_EQ(all.creator, "Lull");
  ASSERT_THAT(all.processes, SizeIs(2));
  EXPECT_EQ(all.processes[1].name, "rank 1");
  EXPECT_EQ(all.processes[1].rank, 1);
  EXPECT_EQ(all.processes[1].host, "h1");
  ASSERT_THAT(all.communicators, SizeIs(1));
  EXPECT_THAT(all.communicators[0].members, testing::ElementsAre(0, 1));
  EXPECT_THAT(all.regions, Contains(testing::Field(&definitions::region::name, "MPI_Waitall")).Times(0));
  EXPECT_THAT(all.regions, Contains(testing::Field(&definitions::region::what, role::one_to_all)));
}

TEST_F(archive_test, its_analysis_matches_every_message) {
  leave_all_kinds();
  (void)convert();
  archive_reader archive(folder_.path());
  analyser visitor(archive.all(), 20);
  archive.read(visitor);
  const analysis a = visitor.result();
  EXPECT_EQ(a.unmatched_sends + a.unmatched_receives + a.too_early + a.incomplete_collectives, 0U);
  EXPECT_NEAR(a.processes[1].seconds[static_cast<std::size_t>(time_state::late_sender)], 500e-9, 1e-12);
  EXPECT_EQ(a.processes[0].sent_bytes, 64U + (1U << 20));
}

TEST_F(archive_test, killed_and_missing_processes_leave_a_whole_archive_and_are_named) {
  recorded_process p{.size = 3, .killed = true};
  p.threads[0] = {call_of(kind::send, send_f, 2000, 2500, 1, 64), call_of(kind::send, send_f, 3000, 3500, 1, 64)};
  leave(p);
  leave({.rank = 1, .size = 3});
  const conversion made = convert();
  EXPECT_THAT(made.remarks,
              testing::ElementsAre(HasSubstr("rank 0 was killed"), HasSubstr("rank 2 has left no records")));
  archive_reader archive(folder_.path());
  EXPECT_THAT(archive.all().processes, SizeIs(3));
  analyser visitor(archive.all(), 1);
  archive.read(visitor);
  EXPECT_EQ(visitor.result().unmatched_sends, 2U);
  EXPECT_EQ(complaints(), "");
}

TEST_F(archive_test, threads_are_locations) {
  recorded_process p;
  p.threads = {{call_of(kind::call, barrier_f, 2000, 2100)}, {call_of(kind::call, barrier_f, 2000, 2100)}};
  leave(p);
  (void)convert();
  const archive_reader archive(folder_.path());
  ASSERT_THAT(archive.all().locations, SizeIs(3));  // and the one of the rank that is missing
  EXPECT_EQ(archive.all().locations[1].name, "thread 1");
  EXPECT_EQ(archive.all().locations[1].process, 0U);
}

TEST_F(archive_test, energy_is_a_metric_of_its_host) {
  leave_all_kinds();
  std::ofstream(raw() / "h1.energy")
      << R"({"host":"h1","channels":[{"name":"rapl","domain":"package","kind":"measured"}],"time_ns":[1000,501000,901000],"joules":[[10,12,20]]})";
  const conversion made = convert();
  archive_reader archive(folder_.path());
  ASSERT_THAT(archive.all().metrics, SizeIs(2));
  EXPECT_EQ(archive.all().metrics[0].unit, "J");
  kept_events kept;
  archive.read(kept);
  std::vector<double> joules;
  for (const event& e : kept.events)
    if (e.what == happening::metric && e.region == 0) joules.push_back(e.value);
  EXPECT_THAT(joules, testing::ElementsAre(0, 2, 10));
  EXPECT_EQ(complaints(), "");
}

TEST_F(archive_test, many_processes_and_events_go_through_little_memory) {
  for (int rank = 0; rank < 8; ++rank) {
    recorded_process p{.rank = rank, .size = 8, .end = 1'000'000'000};
    for (std::uint64_t i = 0; i < 20'000; ++i)
      p.threads[0].push_back(call_of(kind::send, send_f, 2000 + 100 * i, 2050 + 100 * i, (rank + 1) % 8, 8));
    leave(p);
  }
  std::uint64_t said = 0;
  const conversion made = write_archive(raw(), folder_.path(), [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_LE(done, all);
    said = done;
    return true;
  });
  EXPECT_EQ(said, 160'000U);
  EXPECT_EQ(made.events, 160'000U * 3 + 16);
  EXPECT_EQ(read().size(), made.events);
}

TEST_F(archive_test, an_archive_is_replaced_as_a_whole) {
  leave_all_kinds();
  (void)convert();
  const auto before = read().size();
  (void)convert();
  EXPECT_EQ(read().size(), before);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_THAT(entry.path().filename().string(), testing::Not(testing::StartsWith(".archive")));
}

TEST_F(archive_test, a_conversion_that_is_stopped_leaves_no_archive) {
  leave_all_kinds();
  EXPECT_THROW((void)write_archive(raw(), folder_.path(), [](auto, auto) { return false; }), error);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "traces.otf2"));
  EXPECT_THROW((void)archive_reader(folder_.path()), error);
}

TEST_F(archive_test, an_archive_that_lacks_a_file_is_an_error) {
  leave_all_kinds();
  (void)convert();
  std::filesystem::remove(folder_.path() / "traces.def");
  EXPECT_THROW((void)read(), error);
}

TEST_F(archive_test, a_job_and_the_one_that_it_spawned_have_one_communicator) {
  recorded_process first, second{.rank = 1}, spawned{.rank = 0, .size = 1, .job = "k", .pid = 300};
  first.definitions = second.definitions = {reaching(1, 5000, 2, 1)};
  spawned.definitions = {reaching(1, 4900, 1, 2)};  // its counter is slightly behind
  second.threads[0] = {over(1, call_of(kind::send, send_f, 6000, 6100, 0, 64, 7))};
  spawned.threads[0] = {over(1, call_of(kind::receive, receive_f, 6000, 6200, 1, 64, 7))};
  for (const auto& p : {first, second, spawned}) leave(p);
  EXPECT_THAT(convert().remarks, IsEmpty());
  const archive_reader archive(folder_.path());
  ASSERT_THAT(archive.all().communicators, SizeIs(3));  // and two worlds
  const analysis found = analysed();
  EXPECT_EQ(found.unmatched_sends + found.unmatched_receives, 0U);
  ASSERT_THAT(found.pairs, SizeIs(1));
  EXPECT_EQ(found.pairs[0].from, 1U);
  EXPECT_EQ(found.pairs[0].to, 2U);
  EXPECT_EQ(complaints(), "");
}

TEST_F(archive_test, jobs_without_names_are_distinguished_by_their_sizes) {
  leave({.size = 1, .job = "", .pid = 100});
  leave({.rank = 0, .job = "", .pid = 200, .begin = 2000});
  leave({.rank = 1, .job = "", .pid = 201, .begin = 2000});
  EXPECT_THAT(convert().remarks, IsEmpty());
  EXPECT_THAT(archive_reader(folder_.path()).all().processes, SizeIs(3));
}

TEST_F(archive_test, groups_of_two_jobs_that_are_merged_are_one_group) {
  recorded_process spawner{.size = 1}, spawned{.size = 1, .job = "k", .pid = 300};
  const auto merged = [](const nlohmann::json& members) {
    return nlohmann::json{
        {"is", "communicator"}, {"ticks", 5000}, {"number", 1}, {"members", members}, {"name", "all"}};
  };
  spawner.definitions = {merged({{0, 1}, {-1, 1}})};
  spawned.definitions = {merged({{-1, 2}})};  // ranks -1 and 0
  spawner.threads[0] = {over(1, call_of(kind::send, send_f, 6000, 6100, 1, 64))};
  spawned.threads[0] = {over(1, call_of(kind::receive, receive_f, 6000, 6200, 0, 64))};
  leave(spawner);
  leave(spawned);
  EXPECT_THAT(convert().remarks, IsEmpty());
  EXPECT_EQ(analysed().unmatched_sends, 0U);
  EXPECT_THAT(analysed().pairs, SizeIs(1));
}

TEST_F(archive_test, members_that_are_not_in_the_trace_cost_their_messages_and_no_more) {
  recorded_process p{.size = 1};
  p.definitions = {reaching(1, 5000, 1, 3),
                   {{"is", "window"}, {"ticks", 5500}, {"number", 2}, {"communicator", 1}, {"name", ""}}};
  p.threads[0] = {call_of(kind::call, init, 1100, 1200), over(1, call_of(kind::send, send_f, 6000, 6100, 2, 64)),
                  over(2, call_of(kind::put, put_f, 6200, 6300, 1, 8)),
                  call_of(kind::collective, barrier_f, 6400, 6500)};
  leave(p);
  EXPECT_THAT(convert().remarks,
              testing::ElementsAre(HasSubstr("1 communicator reaches processes that are not in the trace")));
  const auto events = read();
  EXPECT_EQ(std::ranges::count(events, happening::enter, &event::what), 5);
  EXPECT_EQ(std::ranges::count(events, happening::send, &event::what), 0);
  EXPECT_EQ(complaints(), "");
}

TEST_F(archive_test, two_that_fit_are_not_told_apart) {
  for (int rank = 0; rank < 2; ++rank) {
    recorded_process spawner{.rank = rank}, spawned{.rank = 0, .size = 1, .job = std::string("k") + char('0' + rank)};
    spawner.definitions = {{{"is", "communicator"},
                            {"ticks", 5000},
                            {"number", 1},
                            {"members", {{rank, 1}}},
                            {"remote", {{-1, 1}}},
                            {"name", ""}}};
    spawned.definitions = {reaching(1, 5100, 1, 1)};
    spawned.pid = 300 + rank;
    leave(spawner);
    leave(spawned);
  }
  EXPECT_THAT(convert().remarks, testing::ElementsAre(HasSubstr("4 communicators reach")));
}

TEST_F(archive_test, logs_of_a_machine_with_smaller_pages_are_read) {
  for (const bool killed : {false, true}) {
    recorded_process p{.size = 1, .pid = killed ? 301 : 300, .killed = killed, .page = 1024};
    p.threads[0] = {call_of(kind::call, init, 1100, 1200), call_of(kind::call, finalize, 1300, 1400)};
    leave(p);
  }
  EXPECT_EQ(convert().records, 4U);
}

TEST_F(archive_test, damaged_definitions_are_named_and_the_rest_is_there) {
  leave_all_kinds();
  std::ofstream(raw() / "h1-100.definitions", std::ios::app) << "{\"is\":5}\n";
  EXPECT_THAT(convert().remarks, Contains(HasSubstr("rank 0: its definitions are damaged from line 9 on")));
  EXPECT_EQ(analysed().unmatched_sends, 0U);
}

TEST_F(archive_test, whatever_is_damaged_an_archive_or_an_error_comes_of_it) {
  unsigned state = 1;
  const auto below = [&](std::size_t n) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % std::max<std::size_t>(n, 1);
  };
  int archives = 0;
  for (int round = 0; round < 60; ++round) {
    std::filesystem::remove_all(raw());
    leave_all_kinds();
    recorded_process spawned{.rank = 0, .size = 1, .job = "k", .pid = 300};
    spawned.definitions = {reaching(1, 4900, 1, 2)};
    leave(spawned);
    std::ofstream(raw() / "h1.energy") << R"({"host":"h1","channels":[],"time_ns":[],"joules":[]})";
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(raw())) files.push_back(entry.path());
    std::ranges::sort(files);
    for (std::size_t wounds = 1 + below(3); wounds > 0; --wounds) {
      const auto& file = files[below(files.size())];
      const auto size = std::filesystem::file_size(file);
      if (below(4) == 0) {
        std::filesystem::resize_file(file, below(size));
        continue;
      }
      std::fstream open(file, std::ios::in | std::ios::out | std::ios::binary);
      // Mostly at a place with content: the header, or a line.
      open.seekp(static_cast<std::streamoff>(below(below(2) == 0 ? 72 : size)));
      for (std::size_t bytes = 1 + below(8); bytes > 0; --bytes)
        open.put(static_cast<char>(below(2) == 0 ? '9' : below(256)));
    }
    try {
      (void)convert();
      ++archives;
      (void)analysed();
    } catch (const error&) {
    }
  }
  EXPECT_GT(archives, 30) << "damage to one process is no reason to lose the others";
}

TEST_F(archive_test, a_folder_without_records_is_an_error) {
  std::filesystem::create_directories(raw());
  try {
    (void)convert();
    FAIL();
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("no process has recorded anything"));
  }
}

}  // namespace
}  // namespace lull::trace
