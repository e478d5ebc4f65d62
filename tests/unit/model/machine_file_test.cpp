#include "model/machine/machine_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "model/machine/constants.hpp"

namespace {

using namespace lull;
using namespace lull::model;

constexpr const char* all_figures = R"(
form = 1
[wake_ups]
timer_ns = {value = 40e3, low = 30e3, high = 70000}
[memory]
copy_warm_bytes_per_s = {value = 8e9}
[[transports.network.pieces]]
from_bytes = 0
gap_ns = {value = 1234.5}
ns_per_byte = {value = 9}
[[transports.network.pieces]]
from_bytes = 65536
gap_ns = {value = 7}
ns_per_byte = {value = 0.5}
[storage]
bytes_per_s = {value = 3e8}
writer_bytes_per_s = {value = 2e8}
writers_at_half_speed = {value = 12}
[recording]
ns_per_event = {value = 25}
[watts.idle_node]
value = 50
[watts.one_core]
value = 57.5
)";

class machine_file : public testing::Test {
 protected:
  std::string file_of(const std::string& text) const {
    std::ofstream(path_) << text;
    return path_;
  }
  std::string problem_of(const std::string& text) const {
    try {
      (void)read_machine_file(file_of(text));
    } catch (const usage_error& problem) {
      return problem.what();
    }
    return "";
  }
  ~machine_file() override { std::filesystem::remove(path_); }

 private:
  std::string path_ =
      testing::TempDir() + "lull-machine-" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml";
};

TEST_F(machine_file, takes_the_place_of_constants) {
  const machine known = read_machine_file(file_of(all_figures));
  for (const waiting_costs& kind :
       {known.waiting, known.waiting_of_mpi, known.waiting_of_mpi_streams, known.waiting_of_mpi_handshakes})
    EXPECT_EQ(kind.assumed_wake_up_latency_ns, 70'000);
  EXPECT_DOUBLE_EQ(known.transforming.ns_per_copied_byte, 0.125);
  EXPECT_DOUBLE_EQ(known.transforming.ns_per_message, 1234.5);
  EXPECT_DOUBLE_EQ(known.network.ns_per_message, 1234.5);
  EXPECT_DOUBLE_EQ(known.network.ns_per_byte, 0.5);
  EXPECT_DOUBLE_EQ(known.output.copy_bytes_per_s, 8e9);
  EXPECT_DOUBLE_EQ(known.output.link_bytes_per_s, 2e9);
  EXPECT_DOUBLE_EQ(known.output.storage_bytes_per_s, 3e8);
  EXPECT_DOUBLE_EQ(known.output.writer_bytes_per_s, 2e8);
  EXPECT_DOUBLE_EQ(known.output.writers_at_half_speed, 12);
  EXPECT_DOUBLE_EQ(known.output.idle_node_watts, 50);
  EXPECT_DOUBLE_EQ(known.output.busy_core_watts, 7.5);
}

TEST_F(machine_file, a_busy_core_may_draw_nothing_more_and_never_less_than_nothing) {
  const auto known = [&](const char* one_core) {
    return read_machine_file(
        file_of("[watts]\nidle_node = {value = 50}\none_core = {value = " + std::string(one_core) + "}\n"));
  };
  EXPECT_DOUBLE_EQ(known("50").output.busy_core_watts, 0);
  EXPECT_DOUBLE_EQ(known("50").output.idle_node_watts, 50);
  EXPECT_DOUBLE_EQ(known("49").output.busy_core_watts, output_costs{}.busy_core_watts);
  EXPECT_DOUBLE_EQ(known("49").output.idle_node_watts, output_costs{}.idle_node_watts);
}

TEST_F(machine_file, leaves_what_it_does_not_say) {
  const machine known = read_machine_file(file_of("title = \"imagined\"\n[topology]\npreset = \"x\"\n"));
  EXPECT_EQ(known.waiting.assumed_wake_up_latency_ns, waiting_costs{}.assumed_wake_up_latency_ns);
  EXPECT_EQ(known.transforming.ns_per_message, transforming_costs{}.ns_per_message);
  EXPECT_EQ(known.output.storage_bytes_per_s, output_costs{}.storage_bytes_per_s);
}

// What the table of constants says about lull calibrate is true.
TEST_F(machine_file, changes_by_figures_the_constants_that_the_table_names) {
  const machine known = read_machine_file(file_of(all_figures)), before;
  for (const constant& one : all_constants())
    EXPECT_EQ(one.get(known) != one.get(before), *one.by.figure != '\0') << one.name;
}

TEST_F(machine_file, sets_any_constant) {
  const machine before;
  for (const constant& one : all_constants()) {
    const double value = one.range.most <= 1 ? 0.5 : std::min(one.range.most, 1000.0);
    // Constants that must be no less than it change with it.
    const std::string greatest =
        "aggregation.largest_inter_node_buffer_bytes = {value = 524288}\n"
        "progress.most_stand_back_ns = {value = 600000}\ntransforming.longest_abstention_puts = {value = 99999}\n";
    const bool is_greatest = greatest.find(one.name) != std::string::npos;
    const std::string line = fmt::format("{} = {{value = {}}}\n", one.name, value);
    const std::string text = "[constants]\n" + (is_greatest ? greatest : greatest + line);
    const machine known = read_machine_file(file_of(text));
    EXPECT_NE(one.get(known), one.get(before)) << one.name;
    if (!is_greatest) {
      EXPECT_EQ(one.get(known), value) << one.name;
    }
  }
}

TEST_F(machine_file, a_constant_takes_the_place_of_what_was_measured) {
  const machine known = read_machine_file(file_of(
      "[constants]\nnetwork.ns_per_message = {value = 2.5}\n[[transports.network.pieces]]\ngap_ns = {value = 9}\n"));
  EXPECT_DOUBLE_EQ(known.network.ns_per_message, 2.5);
  EXPECT_DOUBLE_EQ(known.transforming.ns_per_message, 9);
}

TEST_F(machine_file, says_which_constant_is_none) {
  EXPECT_THAT(problem_of("[constants]\n\naggregation.ns_per_itm = {value = 5}\n"),
              testing::AllOf(testing::HasSubstr("line 3: there is no constant aggregation.ns_per_itm; the nearest are "
                                                "aggregation.ns_per_item, "),
                             testing::Not(testing::HasSubstr("\n"))));
  EXPECT_THAT(problem_of("[constants]\ncorrection.least_gain = {value = 1.5}\n"),
              testing::HasSubstr("line 2: correction.least_gain is 1.5, which is not in 0 to 1"));
  EXPECT_THAT(problem_of("[constants]\nrdma.smallest_put_bytes = {value = 1.5}\n"),
              testing::HasSubstr("line 2: rdma.smallest_put_bytes is 1.5, which is not a whole number"));
  EXPECT_THAT(problem_of("[constants]\nprogress.least_stand_back_ns = {value = 600000}\n"),
              testing::HasSubstr("line 1: progress.least_stand_back_ns is 600000, more than "
                                 "progress.most_stand_back_ns, 500000"));
  EXPECT_THAT(problem_of("[constants]\nrdma = 3\n"), testing::HasSubstr("line 2: constants.rdma is not a table"));
  EXPECT_THAT(problem_of("constants = 3\n"), testing::HasSubstr("line 1: constants is not a table"));
  EXPECT_THAT(problem_of("[constants]\nrdma.smallest_put_bytes = 3\n"),
              testing::HasSubstr("line 2: a figure is not a table"));
}

TEST_F(machine_file, a_figure_may_be_nothing) {
  EXPECT_EQ(read_machine_file(file_of("[wake_ups]\ntimer_ns = {value = 0}\n")).waiting.assumed_wake_up_latency_ns, 0);
}

TEST_F(machine_file, says_where_it_is_wrong) {
  EXPECT_THAT(
      problem_of("form = 1\n[memory]\ncopy_warm_bytes_per_s = {value = -1}\n"),
      testing::AllOf(testing::HasSubstr("line 3"), testing::HasSubstr("value is not a number in the allowed range"),
                     testing::HasSubstr("LULL_MACHINE=builtin")));
  EXPECT_THAT(problem_of("[memory]\ncopy_warm_bytes_per_s = 3\n"),
              testing::HasSubstr("line 2: a figure is not a table"));
  EXPECT_THAT(problem_of("form = 2\n"), testing::HasSubstr("line 1: its form is not 1"));
  EXPECT_THAT(problem_of("a = = b\n"), testing::HasSubstr("line 1"));
  EXPECT_THROW((void)read_machine_file("/nowhere/machine.toml"), usage_error);
}

TEST_F(machine_file, is_kept_where_the_host_is_named) {
  unsetenv("XDG_CONFIG_HOME");
  unsetenv("HOME");
  EXPECT_EQ(machine_file_of_this_host(), "");
  setenv("XDG_CONFIG_HOME", "/config", 1);
  EXPECT_THAT(machine_file_of_this_host(), testing::MatchesRegex("/config/lull/machines/.+\\.toml"));
  setenv("XDG_CONFIG_HOME", "", 1);
  setenv("HOME", "/home/u", 1);
  EXPECT_THAT(machine_file_of_this_host(), testing::StartsWith("/home/u/.config/lull/machines/"));
}

}  // namespace
