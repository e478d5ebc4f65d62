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
  static const found_source& found_called(std::span<const found_source> found, std::string_view name) {
    return *std::ranges::find(found, name, [](const auto& f) { return f.source->description().name; });
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
  EXPECT_EQ(found_called(found, "amd_energy").reason, "powercap reads the same counters");
  const auto denied = [](std::string_view path) { return path.ends_with("/energy_uj") ? EACCES : 0; };
  EXPECT_THAT(used(amd.files(denied)), ElementsAre("amd_energy", "hwmon"));
}

TEST_F(choice_test, a_machine_with_nothing_is_estimated) {
  const fixture_tree tree("vm_nothing");
  EXPECT_THAT(used(tree.files()), ElementsAre("estimate"));
}

TEST_F(choice_test, counters_that_stay_at_0_give_way_to_the_next_source) {
  const fixture_tree server("intel_2s_server");
  for (const char* zone : {"intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0", "intel-rapl:1:0"})
    server.set(std::string("/sys/class/powercap/") + zone + "/energy_uj", "0");
  EXPECT_THAT(used(server.files()), ElementsAre("estimate"));
  const auto found = find_sources(server.files());
  EXPECT_EQ(found_called(found, "powercap").reason,
            "the counters of powercap:package-0, powercap:package-1, powercap:dram-0, powercap:dram-1 stay at 0");
  set("LULL_METER_SOURCES", "powercap");
  EXPECT_THROW((void)sources_to_read(server.files()), error);
}

TEST_F(choice_test, a_platform_that_stays_at_0_leaves_its_packages_to_count) {
  const fixture_tree client("intel_client_psys_mmio");
  client.set("/sys/class/powercap/intel-rapl:1/energy_uj", "0");
  const auto found = find_sources(client.files());
  const found_source& rapl = found_called(found, "powercap");
  EXPECT_TRUE(rapl.used);
  EXPECT_THAT(channel_names(*rapl.source), ElementsAre("powercap:package-0"));
  EXPECT_EQ(read_all(*rapl.source)[0].value, 41'000'000'000U);
  EXPECT_EQ(rapl.source->description().left_out, "the counter of powercap:psys stays at 0");
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
              HasSubstr("there are pm_counters, powercap, perf, amd_energy, hsmp, grace, hwmon, nvml, rocm, "
                        "ipmi, redfish, snmp, cxi, infiniband, net, served, estimate"));
}

TEST_F(choice_test, a_machine_where_nothing_can_be_read_is_refused) {
  const temporary_folder empty;
  EXPECT_THROW((void)sources_to_read(sysroot(empty.path().string())), error);
}

}  // namespace
}  // namespace lull::meter
