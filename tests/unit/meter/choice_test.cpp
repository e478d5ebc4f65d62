#include "meter/choice.hpp"

#include <gmock/gmock.h>

#include <cerrno>

#include "base/error.hpp"
#include "tree.hpp"

namespace lull::meter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class choice_test : public meter_test {
 protected:
  static std::vector<std::string> used(const sysroot& root) {
    std::vector<std::string> names;
    for (const found_source& f : find_sources(root))
      if (f.used) names.push_back(f.source->description().name);
    return names;
  }
};

TEST_F(choice_test, every_source_is_listed_and_every_one_left_out_says_why) {
  for (const char* name : {"intel_2s_server", "amd_2s", "eth", "vm_nothing", "cray_ex"}) {
    const fixture_tree tree(name);
    const auto found = find_sources(tree.files());
    ASSERT_EQ(found.size(), source_table().size());
    for (const found_source& f : found) EXPECT_EQ(f.used, f.reason.empty()) << name << " " << f.reason;
  }
}

TEST_F(choice_test, the_estimate_stands_back_where_a_counter_covers_the_processors) {
  const fixture_tree server("intel_2s_server");
  EXPECT_THAT(used(server.files()), ElementsAre("powercap"));
  const auto found = find_sources(server.files());
  EXPECT_EQ(found.back().reason, "powercap counts what it would estimate");
}

TEST_F(choice_test, the_estimate_steps_in_where_the_counter_may_not_be_read) {
  const fixture_tree server("intel_2s_server");
  const auto denied = [](std::string_view path) { return path.ends_with("/energy_uj") ? EACCES : 0; };
  EXPECT_THAT(used(server.files(denied)), ElementsAre("estimate"));
}

TEST_F(choice_test, one_of_the_ways_to_the_same_registers_is_used) {
  const fixture_tree amd("amd_2s");
  EXPECT_THAT(used(amd.files()), ElementsAre("powercap", "hwmon"));
  const auto found = find_sources(amd.files());
  const auto reason = [&](std::string_view name) {
    return std::ranges::find(found, name, [](const auto& f) { return f.source->description().name; })->reason;
  };
  EXPECT_EQ(reason("amd_energy"), "powercap reads the same counters");
  const auto denied = [](std::string_view path) { return path.ends_with("/energy_uj") ? EACCES : 0; };
  EXPECT_THAT(used(amd.files(denied)), ElementsAre("amd_energy", "hwmon"));
}

TEST_F(choice_test, a_machine_with_nothing_is_estimated) {
  const fixture_tree tree("vm_nothing");
  EXPECT_THAT(used(tree.files()), ElementsAre("estimate"));
}

TEST_F(choice_test, names_replace_the_default) {
  const fixture_tree server("intel_2s_server");
  set("LULL_METER_SOURCES", "estimate, powercap");
  EXPECT_THAT(used(server.files()), ElementsAre("powercap", "estimate"));
  const std::vector<std::string> only{"estimate"};
  EXPECT_EQ(sources_to_read(server.files(), only).size(), 1U);
}

TEST_F(choice_test, a_name_that_is_not_readable_or_not_known_is_refused) {
  const fixture_tree tree("vm_nothing");
  const auto refusal = [&](const std::string& name) -> std::string {
    try {
      (void)sources_to_read(tree.files(), std::vector{name});
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(refusal("powercap"), HasSubstr("no powercap class"));
  EXPECT_THAT(refusal("rapl"),
              HasSubstr("there are pm_counters, powercap, perf, amd_energy, grace, hwmon, nvml, rocm, ipmi, "
                        "redfish, snmp, cxi, infiniband, net, estimate"));
}

TEST_F(choice_test, who_must_not_fork_gets_no_source_that_runs_a_command) {
  const fixture_tree tree("vm_nothing");
  const std::filesystem::path asked = tree.path() / "asked";
  set("LULL_SNMP_COMMAND", ("touch " + asked.string() + "; echo 400").c_str());
  std::vector<std::string> left;
  for (const found_source& f : find_sources(tree.files(), {}, commands::left_out))
    left.push_back(f.source->description().name);
  EXPECT_EQ(left.size(), source_table().size() - 3);
  for (const char* name : {"ipmi", "redfish", "snmp"}) EXPECT_THAT(left, testing::Not(testing::Contains(name)));
  set("LULL_METER_SOURCES", "snmp,estimate");
  EXPECT_EQ(sources_to_read(tree.files(), {}, commands::left_out).size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(asked));
}

TEST_F(choice_test, a_machine_where_nothing_can_be_read_is_refused) {
  const temporary_folder empty;
  EXPECT_THROW((void)sources_to_read(sysroot(empty.path().string())), error);
}

}  // namespace
}  // namespace lull::meter
