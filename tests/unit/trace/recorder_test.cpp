#include "trace/recording/recorder.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <functional>
#include <latch>
#include <map>
#include <thread>

#include "folded_programs.hpp"
#include "surroundings.hpp"
#include "trace/folding/signature.hpp"
#include "trace/recording/log_records.hpp"
#include "trace/recording/raw_folder.hpp"

namespace lull::trace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A process has one recorder for its life, so each program here is a child process. Each test is of both forms.
class recorder_test : public settings_by_default, public testing::WithParamInterface<const char*> {
 protected:
  // The end of a child that runs `program` and exits by exit().
  int run(const std::function<void()>& program) const {
    const pid_t child = fork();
    if (child == 0) {
      set("LULL_TRACE", folder_.path().c_str());
      set("LULL_TRACE_FORM", GetParam());
      program();
      std::exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
  [[nodiscard]] std::vector<raw_process> processes() const { return read_raw_folder(folder_.path() / "raw"); }
  static std::vector<record> kept(const raw_log& log) {
    log_records there(log.path);
    std::vector<record> all;
    for (auto call = there.next_call(); !call.empty(); call = there.next_call())
      all.insert(all.end(), call.begin(), call.end());
    EXPECT_FALSE(there.is_damaged());
    EXPECT_EQ(there.count(), all.size());
    return all;
  }
  [[nodiscard]] static bool is_folded() { return std::string_view(GetParam()) == "folded"; }
  // Enough records to exceed a limit.
  [[nodiscard]] static int many() { return is_folded() ? 200'000 : 50'000; }
  static void put(int count) {
    thread_log& log = recorder::of_process().log();
    for (int i = 0; i < count; ++i)
      log.put({.begin = static_cast<std::uint64_t>(i) + 1, .duration = 1, .peer = i, .bytes = 8, .what = kind::send});
  }

  const temporary_folder folder_;
};

TEST_P(recorder_test, records_and_definitions_are_found_again) {
  ASSERT_EQ(run([] {
              recorder& mine = recorder::of_process();
              const std::array<std::string_view, 2> names{"MPI_Send", "MPI_Recv"};
              mine.define_regions("mpi", 10, names);
              mine.define_process(1, 4, "mpi", "a library \"quoted\"");
              mine.define_communicator(0, std::array{0, 1, 2, 3}, "world");
              mine.define_communicator(7, std::array{1, 3, 2}, "", std::array{0});
              mine.name_communicator(7, "bridge");
              mine.define_window(2, 0, "w");
              put(3);
              mine.close();
            }),
            0);
  const auto found = processes();
  ASSERT_THAT(found, SizeIs(1));
  const raw_process& p = found[0];
  EXPECT_EQ(p.rank, 1);
  EXPECT_EQ(p.size, 4);
  EXPECT_EQ(p.library, "a library \"quoted\"");
  EXPECT_EQ(p.ended, ending::in_order);
  EXPECT_EQ(p.regions.at(11).name, "MPI_Recv");
  ASSERT_THAT(p.communicators, SizeIs(2));
  EXPECT_THAT(p.communicators[0].members, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(p.communicators[1].members, ElementsAre(1, 3, 2));
  EXPECT_THAT(p.communicators[1].remote, ElementsAre(0));
  EXPECT_EQ(p.communicators[1].name, "bridge");
  EXPECT_THAT(p.windows, SizeIs(1));
  EXPECT_GE(p.clocks.size(), 2U);
  ASSERT_THAT(p.logs, SizeIs(1));
  EXPECT_EQ(p.logs[0].thread, static_cast<std::uint64_t>(p.pid));
  const auto records = kept(p.logs[0]);
  ASSERT_THAT(records, SizeIs(3));
  EXPECT_EQ(records[2].peer, 2);
  EXPECT_EQ(records[2].bytes, 8U);
}

TEST_P(recorder_test, files_grow_and_keep_all_in_order) {
  constexpr int many = 200'000;
  ASSERT_EQ(run([] {
              put(many);
              recorder::of_process().close();
            }),
            0);
  const auto found = processes();
  const auto records = kept(found.at(0).logs.at(0));
  ASSERT_THAT(records, SizeIs(many));
  for (int i = 0; i < many; ++i) ASSERT_EQ(records[static_cast<std::size_t>(i)].peer, i);
}

TEST_P(recorder_test, each_thread_has_a_log_of_its_own) {
  ASSERT_EQ(run([] {
              std::latch all_there(4);
              std::vector<std::jthread> threads;
              for (int t = 1; t <= 4; ++t)
                threads.emplace_back([t, &all_there] {
                  put(1000 * t);
                  all_there.arrive_and_wait();
                });
            }),
            0);
  std::vector<std::size_t> sizes;
  const auto found = processes();
  for (const raw_log& log : found.at(0).logs) sizes.push_back(kept(log).size());
  EXPECT_THAT(sizes, testing::UnorderedElementsAre(1000, 2000, 3000, 4000));
}

TEST_P(recorder_test, a_killed_process_leaves_what_it_had_recorded) {
  const int status = run([] {
    put(5000);
    raise(SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto found = processes();
  EXPECT_EQ(found.at(0).ended, ending::killed);
  EXPECT_THAT(kept(found[0].logs.at(0)), SizeIs(5000));
}

TEST_P(recorder_test, exit_without_close_is_told_from_a_kill) {
  ASSERT_EQ(run([] { put(1); }), 0);
  EXPECT_EQ(processes().at(0).ended, ending::exit_without_end);
}

TEST_P(recorder_test, nothing_is_recorded_after_close) {
  ASSERT_EQ(run([] {
              put(2);
              recorder::of_process().close();
              put(3);
              std::jthread([] { put(3); });
            }),
            0);
  const auto found = processes();
  ASSERT_THAT(found.at(0).logs, SizeIs(1));
  EXPECT_THAT(kept(found[0].logs[0]), SizeIs(2));
}

TEST_P(recorder_test, a_forked_child_leaves_the_parents_files_alone) {
  ASSERT_EQ(run([] {
              put(1);
              const pid_t child = fork();
              if (child == 0) {
                put(100);
                recorder::of_process().define_process(9, 9, "mpi", "");
                std::exit(0);
              }
              int status = 0;
              waitpid(child, &status, 0);
              EXPECT_EQ(status, 0);
              put(1);
              recorder::of_process().close();
            }),
            0);
  const auto found = processes();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].rank, -1);
  EXPECT_EQ(found[0].ended, ending::in_order);
  EXPECT_THAT(kept(found[0].logs.at(0)), SizeIs(2));
}

TEST_P(recorder_test, beyond_the_limit_records_are_counted_and_said_once) {
  testing::internal::CaptureStderr();
  ASSERT_EQ(run([] {
              set("LULL_TRACE_LIMIT", "128K");
              put(many());
              recorder::of_process().close();
            }),
            0);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::HasSubstr("LULL_TRACE_LIMIT is reached"));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1);
  const auto found = processes();
  const raw_log& log = found.at(0).logs.at(0);
  const std::size_t here = kept(log).size();
  EXPECT_GT(here, 0U);
  EXPECT_EQ(here + log.lost, static_cast<std::size_t>(many()));
}

// RLIMIT_FSIZE replaces a full disk: no blocks are available.
TEST_P(recorder_test, a_full_disk_ends_the_recording_and_not_the_program) {
  testing::internal::CaptureStderr();
  ASSERT_EQ(run([] {
              signal(SIGXFSZ, SIG_IGN);
              put(1);
              const rlimit little{.rlim_cur = 200'000, .rlim_max = 200'000};
              setrlimit(RLIMIT_FSIZE, &little);
              put(many());
              recorder::of_process().close();
            }),
            0);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("File too large"));
  const auto found = processes();
  const raw_log& log = found.at(0).logs.at(0);
  EXPECT_EQ(kept(log).size() + log.lost, static_cast<std::size_t>(many()) + 1);
  EXPECT_GT(log.lost, 0U);
}

TEST_P(recorder_test, a_folder_that_cannot_be_made_is_said_and_the_program_goes_on) {
  testing::internal::CaptureStderr();
  ASSERT_EQ(run([] {
              set("LULL_TRACE", "/proc/none");
              put(10);
              recorder::of_process().close();
            }),
            0);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("/proc/none"));
}

TEST_P(recorder_test, a_process_that_withdraws_leaves_no_file) {
  ASSERT_EQ(run([] {
              put(10);
              recorder::of_process().withdraw();
              put(10);
              recorder::of_process().define_process(0, 1, "mpi", "");
            }),
            0);
  EXPECT_THAT(processes(), testing::IsEmpty());
}

TEST_P(recorder_test, a_long_call_keeps_its_whole_duration) {
  ASSERT_EQ(run([] {
              const std::uint64_t before = ticks() - (std::uint64_t{3} << 32);
              recorder::of_process().log().put_call({.begin = before, .what = kind::call});
            }),
            0);
  const auto records = kept(processes().at(0).logs.at(0));
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[1].what, kind::longer);
  EXPECT_EQ(records[1].bytes, 3U);
}

TEST_P(recorder_test, without_the_setting_it_is_not_wanted) {
  EXPECT_FALSE(recorder::wanted());
  set("LULL_TRACE", "/tmp/x");
  EXPECT_TRUE(recorder::wanted());
}

// A halo exchange of a thread and the files that it leaves.
TEST_P(recorder_test, a_loop_that_is_killed_can_be_read_up_to_its_last_record) {
  recorded_thread t;
  halo(t, 3000, 4);
  t.records.resize(t.records.size() - 5);  // in the middle of what completes the requests
  const int status = run([&] {
    for (const record& r : t.records) recorder::of_process().log().put(r);
    raise(SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto found = processes();
  const auto records = kept(found.at(0).logs.at(0));
  ASSERT_THAT(records, SizeIs(t.records.size()));
  std::map<std::uint64_t, std::uint64_t> lives;  // the handle that the library would have
  for (std::size_t i = 0; i < records.size(); ++i) {
    ASSERT_EQ(records[i].what, t.records[i].what) << i;
    if (begins_call(records[i].what))
      ASSERT_EQ(records[i].begin, t.records[i].begin) << i;
    else if (folding::posts(records[i].what))
      lives[t.records[i].begin] = records[i].begin;
    else
      ASSERT_EQ(records[i].begin, lives.at(t.records[i].begin)) << i;
  }
}

TEST_P(recorder_test, a_folded_thread_that_has_ended_leaves_one_small_file) {
  if (!is_folded()) GTEST_SKIP() << "raw";
  ASSERT_EQ(run([] {
              recorded_thread t;
              halo(t, 3000, 4);
              for (const record& r : t.records) recorder::of_process().log().put(r);
              recorder::of_process().close();
            }),
            0);
  const auto found = processes();
  const raw_log& log = found.at(0).logs.at(0);
  EXPECT_EQ(log.path.extension(), ".folded");
  EXPECT_LT(std::filesystem::file_size(log.path), log.records * 2);
  auto records = log.path;
  EXPECT_FALSE(std::filesystem::exists(records.replace_extension(".records")));
}

TEST_P(recorder_test, requests_that_another_thread_completes_are_found) {
  ASSERT_EQ(run([] {
              recorded_thread t;
              for (int i = 0; i < 5000; ++i) t.irecv(1, i, 8);
              for (const record& r : t.records) recorder::of_process().log().put(r);
              std::jthread([&] {
                for (std::uint64_t i = 0; i < 5000; ++i) {
                  thread_log& log = recorder::of_process().log();
                  log.put({.begin = 1'000'000'000 + i, .duration = 1, .what = kind::call});
                  log.put({.begin = t.records[2 * i + 1].begin, .peer = 1, .bytes = 8, .what = kind::completed});
                }
              });
              halo(t, 2000, 2);
              for (const record& r : std::span(t.records).subspan(10'000)) recorder::of_process().log().put(r);
              recorder::of_process().close();
            }),
            0);
  const auto found = processes();
  ASSERT_THAT(found.at(0).logs, SizeIs(2));
  const auto posted = kept(found[0].logs[0]), completed = kept(found[0].logs[1]);
  ASSERT_GE(posted.size(), 10'000U);
  ASSERT_THAT(completed, SizeIs(10'000));
  for (std::size_t i = 1; i < 10'000; i += 2) ASSERT_EQ(posted[i].begin, completed[i].begin) << i;
}

INSTANTIATE_TEST_SUITE_P(forms, recorder_test, testing::Values("raw", "folded"),
                         [](const auto& form) { return std::string(form.param); });

}  // namespace
}  // namespace lull::trace
