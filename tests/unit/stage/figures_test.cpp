// The report at the end of a run about its output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <nlohmann/json.hpp>

#include "stage/accounts/choice.hpp"
#include "stage/accounts/figures.hpp"
#include "stage/files.hpp"
#include "surroundings.hpp"

namespace lull::stage {
namespace {

using testing::HasSubstr;

job_figures some() {
  job_figures made;
  made.clients.processes = 2;
  made.clients.wall_ns = 20'000'000'000;
  made.clients.stalled_ns = 1'000'000'000;
  made.clients.writing_ns = 3'000'000'000;
  made.clients.handed_over = {9, 900};
  made.clients.wrote_itself = {1, 100};
  made.servers.processes = 1;
  made.servers.wall_ns = 10'000'000'000;
  made.servers.writing_ns = 4'000'000'000;
  made.servers.written = {9, 900};
  made.nodes = 3;
  return made;
}

constexpr plan dc{.how = approach::dedicated_cores, .count = 1};

TEST(figures, as_json_have_what_the_table_has) {
  EXPECT_EQ(nlohmann::json::parse(json_of(dc, some())), nlohmann::json::parse(R"({
    "schema": 1, "approach": "dedicated-cores=1", "nodes": 3, "outputs": 5,
    "clients": {"processes": 2, "wall_s": 20, "compute_s": 16, "stall_s": 1, "write_s": 3, "cpu_s": 0,
                "handed_over": {"files": 9, "bytes": 900}, "wrote_itself": {"files": 1, "bytes": 100},
                "dropped": {"files": 0, "bytes": 0}, "too_large": 0,
                "declined": 0, "late": 0, "appended": 0,
                "shared": {"calls": 0, "pieces": 0, "bytes": 0, "reads": 0, "reads_waited": 0, "declined": 0}},
    "servers": {"processes": 1, "wall_s": 10, "idle_s": 6, "write_s": 4, "cpu_s": 0,
                "written": {"files": 9, "bytes": 900}, "failed": 0, "shared_writes": 0}})"));
}

TEST(figures, say_which_files_are_not_staged) {
  EXPECT_THAT(table_of(dc, some()), testing::Not(HasSubstr("not staged")));
  job_figures with = some();
  with.clients.others = {.declined = 1, .late = 2, .appended = 3};
  EXPECT_THAT(table_of(dc, with), HasSubstr("\n  1 file of kinds that are not staged, 2 open when MPI ended, 3 opened "
                                            "again to be changed"));
}

TEST(figures, without_servers_the_table_has_no_row_of_them) {
  EXPECT_THAT(table_of(dc, some()), HasSubstr("\n  server "));
  job_figures alone = some();
  alone.servers = {};
  EXPECT_THAT(table_of({}, alone), testing::Not(HasSubstr("\n  server ")));
}

TEST(figures, are_kept_whole_or_said_not_to_be) {
  const temporary_folder folder;
  const auto file = folder.path() / "figures.json";
  const auto second = folder.path() / "again.json";
  setenv("LULL_STAGE_FIGURES", (file.string() + ":" + second.string()).c_str(), 1);
  testing::internal::CaptureStderr();
  report(dc, some());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), table_of(dc, some()) + "\n" + advice_of(dc, some()) + "\n");
  EXPECT_EQ(text_of(file), json_of(dc, some()));
  EXPECT_EQ(text_of(second), json_of(dc, some()));
  EXPECT_EQ(entries(folder.path()), 2);

  setenv("LULL_STAGE_FIGURES", (folder.path() / "no" / "such").c_str(), 1);
  testing::internal::CaptureStderr();
  report(dc, some());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("No such file"));
  unsetenv("LULL_STAGE_FIGURES");
}

}  // namespace
}  // namespace lull::stage
