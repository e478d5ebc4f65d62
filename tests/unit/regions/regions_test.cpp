#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.hpp"
#include "lull/meter.h"
#include "surroundings.hpp"

namespace lull::regions {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// Regions are written to a file at exit, so each program here is a child process.
class regions_test : public settings_by_default {
 protected:
  // The exit code of a child that runs `program` and ends by exit().
  static int run(const std::function<void()>& program) {
    const pid_t child = fork();
    if (child == 0) {
      program();
      std::exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] std::vector<nlohmann::json> files() const {
    std::vector<nlohmann::json> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      EXPECT_THAT(entry.path().filename().string(), testing::MatchesRegex("regions-.*-[0-9]*\\.json"));
      found.push_back(nlohmann::json::parse(std::ifstream(entry.path())));
    }
    return found;
  }
  void record() const { set("LULL_RECORD", folder_.path().c_str()); }

  const temporary_folder folder_;
};

TEST_F(regions_test, the_number_of_the_nearest_launcher_counts) {
  ASSERT_EQ(run([&] {
              record();
              unsetenv("PMIX_RANK");
              setenv("SLURM_PROCID", "0", 1);  // of mpirun's daemon
              setenv("OMPI_COMM_WORLD_RANK", "5", 1);
              EXPECT_EQ(lull_metric_sum("m", 1, ""), 0);
            }),
            0);
  const auto all = files();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0]["pe"], 5);
}

TEST_F(regions_test, a_program_leaves_one_file_at_exit) {
  const std::int64_t before = now_ns();
  ASSERT_EQ(run([&] {
              record();
              setenv("PMIX_RANK", "3", 1);
              EXPECT_EQ(lull_region_begin("solve"), 0);
              EXPECT_EQ(lull_region_begin("exchange"), 0);
              EXPECT_EQ(lull_region_end("exchange"), 0);
              EXPECT_EQ(lull_region_end("solve"), 0);
              EXPECT_EQ(lull_metric_sum("updates", 1, "1"), 0);
              EXPECT_EQ(lull_metric_sum("updates", 2.5e9, "1"), 0);
            }),
            0);
  const auto all = files();
  ASSERT_THAT(all, SizeIs(1));
  const nlohmann::json& file = all[0];
  EXPECT_EQ(file["schema"], 2);
  EXPECT_EQ(file["pe"], 3);
  EXPECT_GT(file["pid"].get<int>(), 0);
  EXPECT_FALSE(file["node"].get<std::string>().empty());
  ASSERT_THAT(file["regions"], SizeIs(2));
  for (const auto& region : file["regions"]) {
    EXPECT_GE(region["begin_ns"].get<std::int64_t>(), before);
    EXPECT_GE(region["end_ns"].get<std::int64_t>(), region["begin_ns"].get<std::int64_t>());
    EXPECT_LE(region["end_ns"].get<std::int64_t>(), now_ns());
    EXPECT_GE(region["cpu_ns"].get<std::int64_t>(), 0);
  }
  ASSERT_THAT(file["metrics"], SizeIs(1));
  EXPECT_EQ(file["metrics"][0],
            (nlohmann::json{{"name", "updates"}, {"value", 2.5e9}, {"unit", "1"}, {"combination", "sum"}}));
}

TEST_F(regions_test, without_lull_record_nothing_is_written_and_no_call_fails) {
  EXPECT_EQ(run([] {
              EXPECT_EQ(lull_region_begin("a"), 0);
              EXPECT_EQ(lull_region_end("never begun"), 0);
              EXPECT_EQ(lull_metric_sum("m", 1, nullptr), 0);
              EXPECT_EQ(lull_region_flush(), 0);
            }),
            0);
  EXPECT_THAT(files(), SizeIs(0));
}

TEST_F(regions_test, a_region_may_be_repeated_and_nested_in_itself) {
  ASSERT_EQ(run([&] {
              record();
              for (int i = 0; i < 3; ++i) {
                const region outer("loop");
                const region inner("loop");
              }
            }),
            0);
  EXPECT_THAT(files().at(0)["regions"], SizeIs(6));
  EXPECT_EQ(files().at(0)["pe"], nullptr);
}

TEST_F(regions_test, an_end_that_does_not_match_is_an_error_and_changes_nothing) {
  ASSERT_EQ(run([&] {
              record();
              EXPECT_EQ(lull_region_end("a"), LULL_METER_NOT_INNERMOST);
              EXPECT_EQ(lull_region_begin("a"), 0);
              EXPECT_EQ(lull_region_begin("b"), 0);
              EXPECT_EQ(lull_region_end("a"), LULL_METER_NOT_INNERMOST);
              EXPECT_EQ(lull_region_end("b"), 0);
              EXPECT_EQ(lull_region_end("a"), 0);
            }),
            0);
  EXPECT_THAT(files().at(0)["regions"], SizeIs(2));
}

TEST_F(regions_test, a_region_open_at_exit_ends_there) {
  ASSERT_EQ(run([&] {
              record();
              lull_region_begin("main");
              std::this_thread::sleep_for(std::chrono::milliseconds(10));
            }),
            0);
  const auto region = files().at(0)["regions"].at(0);
  EXPECT_GE(region["end_ns"].get<std::int64_t>() - region["begin_ns"].get<std::int64_t>(), 10'000'000);
}

TEST_F(regions_test, flush_writes_at_once_and_exit_writes_the_same_file_again) {
  ASSERT_EQ(run([&] {
              record();
              lull_region_begin("a");
              lull_region_end("a");
              EXPECT_EQ(lull_region_flush(), 0);
              EXPECT_THAT(files().at(0)["regions"], SizeIs(1));
              lull_region_begin("b");
              lull_region_end("b");
            }),
            0);
  ASSERT_THAT(files(), SizeIs(1));
  EXPECT_THAT(files()[0]["regions"], SizeIs(2));
}

TEST_F(regions_test, threads_have_regions_of_their_own) {
  ASSERT_EQ(run([&] {
              record();
              std::vector<std::jthread> threads;
              for (int t = 0; t < 4; ++t)
                threads.emplace_back([] {
                  for (int i = 0; i < 100; ++i) {
                    EXPECT_EQ(lull_region_begin("outer"), 0);
                    EXPECT_EQ(lull_region_begin("inner"), 0);
                    EXPECT_EQ(lull_metric_sum("i", i, ""), 0);
                    EXPECT_EQ(lull_region_end("inner"), 0);
                    EXPECT_EQ(lull_region_end("outer"), 0);
                  }
                });
            }),
            0);
  EXPECT_THAT(files().at(0)["regions"], SizeIs(800));
}

TEST_F(regions_test, a_forked_child_begins_anew_with_a_file_of_its_own) {
  ASSERT_EQ(run([&] {
              record();
              lull_region_begin("parent");
              EXPECT_EQ(run([] {
                          EXPECT_EQ(lull_region_end("parent"), LULL_METER_NOT_INNERMOST);
                          lull_region_begin("child");
                        }),
                        0);
            }),
            0);
  std::vector<std::string> names;
  for (const auto& file : files())
    for (const auto& region : file["regions"]) names.push_back(region["name"]);
  EXPECT_THAT(names, testing::UnorderedElementsAre("parent", "child"));
}

TEST_F(regions_test, bad_names_and_values_are_refused) {
  EXPECT_EQ(lull_region_begin(nullptr), LULL_METER_BAD_NAME);
  EXPECT_EQ(lull_region_end(""), LULL_METER_BAD_NAME);
  EXPECT_EQ(lull_metric_sum("m", std::nan(""), ""), LULL_METER_BAD_VALUE);
  EXPECT_EQ(lull_metric_sum("m", INFINITY, ""), LULL_METER_BAD_VALUE);
  for (int code = 0; code >= -7; --code) EXPECT_NE(lull_meter_strerror(code), nullptr);
}

TEST_F(regions_test, each_call_names_its_combination) {
  ASSERT_EQ(run([&] {
              record();
              EXPECT_EQ(lull_metric_sum("a", 1, "B"), 0);
              EXPECT_EQ(lull_metric_mean("b", 2, "s"), 0);
              EXPECT_EQ(lull_metric_min("c", 3, "s"), 0);
              EXPECT_EQ(lull_metric_max("d", 4, "s"), 0);
            }),
            0);
  std::vector<std::string> found;
  const auto all = files();
  for (const auto& m : all.at(0)["metrics"]) found.push_back(m["combination"]);
  EXPECT_THAT(found, testing::ElementsAre("sum", "mean", "min", "max"));
}

TEST_F(regions_test, a_report_with_another_unit_or_combination_is_refused_and_changes_nothing) {
  ASSERT_EQ(run([&] {
              record();
              EXPECT_EQ(lull_metric_mean("latency", 2, "us"), 0);
              EXPECT_EQ(lull_metric_mean("latency", 0.003, "s"), LULL_METER_CONFLICT);
              EXPECT_EQ(lull_metric_sum("latency", 3, "us"), LULL_METER_CONFLICT);
              EXPECT_EQ(lull_metric_mean("latency", 4, "us"), 0);
            }),
            0);
  const auto all = files();
  ASSERT_THAT(all.at(0)["metrics"], SizeIs(1));
  EXPECT_EQ(all[0]["metrics"][0]["value"], 4);
}

TEST_F(regions_test, names_that_are_not_utf8_or_need_escapes_still_make_valid_json) {
  ASSERT_EQ(run([&] {
              record();
              const region quoted("a \"quoted\"\nname");
              const region broken("\xff\xfe");
            }),
            0);
  EXPECT_THAT(files().at(0)["regions"], SizeIs(2));
}

TEST_F(regions_test, a_folder_that_is_not_there_is_an_error_and_leaves_the_program_alone) {
  EXPECT_EQ(run([&] {
              set("LULL_RECORD", (folder_.path() / "missing").c_str());
              lull_region_begin("a");
              EXPECT_EQ(lull_region_flush(), LULL_METER_NOT_WRITTEN);
              EXPECT_EQ(errno, ENOENT);
              EXPECT_THAT(lull_meter_strerror(LULL_METER_NOT_WRITTEN), HasSubstr("could not be written"));
            }),
            0);
}

TEST_F(regions_test, visits_of_a_process_that_leaves_without_exit_handlers_stay_counted) {
  ASSERT_EQ(run([&] {
              record();
              lull_region_begin("a");
              lull_region_end("a");
              lull_region_begin("b");
              _exit(0);
            }),
            0);
  std::vector<std::filesystem::path> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) left.push_back(entry.path());
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(left[0].extension(), ".count");
  std::array<std::int64_t, 2> counts{};
  std::ifstream(left[0], std::ios::binary).read(reinterpret_cast<char*>(counts.data()), sizeof counts);
  EXPECT_EQ(counts[0], 2);
  EXPECT_EQ(counts[1], 1);
}

}  // namespace
}  // namespace lull::regions
