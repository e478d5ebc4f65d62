#include <gmock/gmock.h>

#include <cerrno>

#include "meter/choice.hpp"
#include "meter/tally.hpp"
#include "tree.hpp"

namespace lull::meter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class powercap_test : public meter_test {};

const channel& channel_called(const source& s, std::string_view name) {
  return *std::ranges::find(s.description().channels, name, &channel::name);
}

TEST_F(powercap_test, zones_go_by_name_and_dram_is_called_after_its_package) {
  const fixture_tree tree("intel_2s_server");
  const auto rapl = make("powercap", tree.files());
  EXPECT_TRUE(rapl->description().state.readable);
  EXPECT_THAT(channel_names(*rapl),
              ElementsAre("powercap:package-0", "powercap:package-1", "powercap:dram-0", "powercap:dram-1"));
  EXPECT_THAT(channel_called(*rapl, "powercap:package-0").basis, HasSubstr("intel-rapl:1/energy_uj"));
  EXPECT_THAT(channel_called(*rapl, "powercap:dram-1").basis, HasSubstr("intel-rapl:0:0/energy_uj"));
  EXPECT_EQ(*read_all(*rapl)[0].value, 124'599'532'281U);
}

TEST_F(powercap_test, dram_has_a_range_of_its_own) {
  const fixture_tree tree("intel_2s_server");
  const auto rapl = make("powercap", tree.files());
  EXPECT_EQ(channel_called(*rapl, "powercap:package-1").limits.range, 262'143'328'850U);
  EXPECT_EQ(channel_called(*rapl, "powercap:dram-0").limits.range, 65'532'610'987U);
  EXPECT_EQ(rapl->description().range, "wraps at 65532610987 or 262143328850 uJ");
}

TEST_F(powercap_test, counters_about_to_wrap_are_counted_round) {
  const fixture_tree tree("intel_2s_server");
  const auto rapl = make("powercap", tree.files());
  std::vector<tally> tallies(rapl->description().channels.begin(), rapl->description().channels.end());
  const auto sample = [&](std::int64_t time_ns) {
    auto readings = read_all(*rapl);
    for (std::size_t i = 0; i < readings.size(); ++i) {
      readings[i].time_ns = time_ns;
      tallies[i].add(readings[i]);
    }
  };
  sample(0);
  tree.set("/sys/class/powercap/intel-rapl:0/energy_uj", "7000000");    // package-1: 5 J before its end, 7 J after
  tree.set("/sys/class/powercap/intel-rapl:1:0/energy_uj", "2000000");  // dram-0: 1 J before its end, 2 J after
  sample(1'000'000'000);
  EXPECT_DOUBLE_EQ(tallies[1].total().joules, 12);
  EXPECT_EQ(tallies[1].total().wraps, 1);
  EXPECT_DOUBLE_EQ(tallies[2].total().joules, 3);
  // The lower bound also lacks the 5 J before the end: a reset at that moment would look the same.
  EXPECT_NEAR(tallies[1].total().high_j - 12, 2 * 1e-3 * 12, 1e-9);
  EXPECT_NEAR(12 - tallies[1].total().low_j, 2 * 1e-3 * 12 + 5, 1e-9);
}

TEST_F(powercap_test, the_mmio_twin_and_the_parts_of_a_package_are_not_counted_again) {
  const fixture_tree tree("intel_client_psys_mmio");
  const auto rapl = make("powercap", tree.files());
  EXPECT_THAT(channel_names(*rapl), ElementsAre("powercap:psys", "powercap:package-0"));
  EXPECT_EQ(channel_called(*rapl, "powercap:psys").covers, domain::node);
  EXPECT_EQ(channel_called(*rapl, "powercap:psys").kind, kind::vendor_model);
  EXPECT_THAT(channel_called(*rapl, "powercap:package-0").basis, HasSubstr("/intel-rapl:0/"));
}

TEST_F(powercap_test, dies_are_channels_of_their_own) {
  const fixture_tree tree("intel_multidie");
  EXPECT_THAT(channel_names(*make("powercap", tree.files())),
              ElementsAre("powercap:package-0-die-0", "powercap:package-0-die-1"));
}

TEST_F(powercap_test, amd_has_packages_and_no_dram) {
  const fixture_tree tree("amd_2s");
  EXPECT_THAT(channel_names(*make("powercap", tree.files())), ElementsAre("powercap:package-0", "powercap:package-1"));
}

TEST_F(powercap_test, a_range_of_zero_allows_no_wrap) {
  const fixture_tree tree("range_zero");
  const auto rapl = make("powercap", tree.files());
  EXPECT_TRUE(rapl->description().state.readable);
  EXPECT_EQ(rapl->description().channels[0].limits.range, 0U);
  EXPECT_EQ(rapl->description().range, "");
}

TEST_F(powercap_test, a_machine_without_it_says_so) {
  const fixture_tree tree("vm_nothing");
  const auto rapl = make("powercap", tree.files());
  EXPECT_FALSE(rapl->description().state.readable);
  EXPECT_THAT(rapl->description().state.reason, HasSubstr("no powercap class"));
  EXPECT_THAT(rapl->description().channels, IsEmpty());
}

TEST_F(powercap_test, permission_denied_comes_with_the_line_that_mends_it) {
  const fixture_tree tree("intel_2s_server");
  const auto denied = [](std::string_view path) { return path.ends_with("/energy_uj") ? EACCES : 0; };
  const auto rapl = make("powercap", tree.files(denied));
  EXPECT_FALSE(rapl->description().state.readable);
  EXPECT_THAT(rapl->description().state.reason, HasSubstr("Permission denied"));
  EXPECT_EQ(rapl->description().state.fix, "sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj");
}

TEST_F(powercap_test, an_error_while_running_is_a_gap_with_its_errno_and_ends) {
  const fixture_tree tree("range_zero");
  int error = 0;
  const auto rapl = make("powercap", tree.files([&](std::string_view) { return error; }));
  EXPECT_EQ(*read_all(*rapl)[0].value, 12345U);
  error = EIO;
  const reading failed = read_all(*rapl)[0];
  EXPECT_FALSE(failed.value.has_value());
  EXPECT_EQ(failed.error, EIO);
  error = 0;
  EXPECT_EQ(*read_all(*rapl)[0].value, 12345U);
}

TEST_F(powercap_test, something_else_than_a_number_is_a_failed_read) {
  const fixture_tree tree("range_zero");
  const auto rapl = make("powercap", tree.files());
  for (const char* content : {"", "-1", "12x", "99999999999999999999999"}) {
    tree.set("/sys/class/powercap/intel-rapl:0/energy_uj", content);
    EXPECT_EQ(read_all(*rapl)[0].error, EBADMSG) << content;
  }
}

TEST_F(powercap_test, dies_of_amd_that_mirror_their_package_are_counted_once) {
  const fixture_tree tree("intel_multidie");
  tree.set("/proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
  const auto amd = make("powercap", tree.files());
  EXPECT_THAT(channel_names(*amd), ElementsAre("powercap:package-0"));
  EXPECT_THAT(amd->description().left_out, HasSubstr("powercap:package-0-die-1"));
  EXPECT_EQ(read_all(*amd).size(), 1U);
  tree.set("/proc/cpuinfo", "vendor_id\t: GenuineIntel\n");
  EXPECT_EQ(channel_names(*make("powercap", tree.files())).size(), 2U);
}

TEST_F(powercap_test, dies_with_one_counter_are_counted_once_where_the_processor_is_not_known) {
  const fixture_tree tree("intel_multidie");
  for (const char* die : {"0", "1"})
    tree.set(std::string("/sys/devices/virtual/powercap/intel-rapl/intel-rapl:") + die + "/energy_uj", "5000000000");
  EXPECT_THAT(channel_names(*make("powercap", tree.files())), ElementsAre("powercap:package-0"));
}

TEST_F(powercap_test, counters_that_a_container_runtime_hides_are_called_hidden) {
  const fixture_tree tree("intel_2s_server");
  std::filesystem::remove_all(tree.root() + "/sys/devices/virtual/powercap");
  std::filesystem::create_directories(tree.root() + "/sys/devices/virtual/powercap");
  const auto hidden = make("powercap", tree.files());
  EXPECT_FALSE(hidden->description().state.readable);
  EXPECT_THAT(hidden->description().state.reason, HasSubstr("a container runtime hides the RAPL counters"));
  EXPECT_THAT(hidden->description().state.fix, HasSubstr("systempaths=unconfined"));
}

}  // namespace
}  // namespace lull::meter
