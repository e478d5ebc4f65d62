// The sources that read files, each on its fixture tree and with its known faults.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "meter/sources/perf.hpp"
#include "replay.hpp"

namespace lull::meter {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class sources_test : public meter_test {};

// perf

// Counts by itself, and keeps the requested events and the result of a read.
class fake_kernel final : public perf_kernel {
 public:
  explicit fake_kernel(int refusal = 0) : refusal_(refusal) {}
  [[nodiscard]] opened_event open(std::uint32_t type, std::uint64_t config, int cpu) const override {
    if (refusal_ != 0) return {-1, refusal_};
    asked_.emplace_back(type, config, cpu);
    return {::open("/dev/null", O_RDONLY | O_CLOEXEC), 0};
  }
  [[nodiscard]] number_read read(int) const override { return {value_, error_}; }

  int refusal_;
  std::uint64_t value_ = 0;
  int error_ = 0;
  mutable std::vector<std::tuple<std::uint32_t, std::uint64_t, int>> asked_;
};

TEST_F(sources_test, perf_opens_each_event_on_each_cpu_of_the_mask_and_scales_it) {
  const fixture_tree tree("intel_2s_server");
  const auto kernel = std::make_shared<fake_kernel>();
  const auto perf = make_perf(tree.files(), kernel);
  EXPECT_TRUE(perf->description().state.readable);
  EXPECT_THAT(channel_names(*perf), ElementsAre("perf:package-0", "perf:package-1", "perf:dram-0", "perf:dram-1"));
  EXPECT_THAT(kernel->asked_, ElementsAre(std::tuple(23U, 2U, 0), std::tuple(23U, 2U, 32), std::tuple(23U, 3U, 0),
                                          std::tuple(23U, 3U, 32)));
  tally package(perf->description().channels[0]);
  package.add(read_all(*perf)[0]);
  kernel->value_ = std::uint64_t{10} << 32U;
  auto now = read_all(*perf)[0];
  now.time_ns += 1'000'000'000;
  package.add(now);
  EXPECT_NEAR(package.total().joules, 10, 1e-9);
  kernel->error_ = EIO;
  EXPECT_FALSE(read_all(*perf)[0].value);
}

TEST_F(sources_test, perf_that_may_not_be_opened_says_the_line_that_mends_it) {
  const fixture_tree tree("intel_2s_server");
  const auto refused = make_perf(tree.files(), std::make_shared<fake_kernel>(EACCES));
  EXPECT_FALSE(refused->description().state.readable);
  EXPECT_THAT(refused->description().state.reason, HasSubstr("perf_event_paranoid is 2"));
  EXPECT_EQ(refused->description().state.fix, "sudo sysctl kernel.perf_event_paranoid=0");
  tree.set("/proc/sys/kernel/perf_event_paranoid", "0");
  const auto still = make_perf(tree.files(), std::make_shared<fake_kernel>(EACCES));
  EXPECT_THAT(still->description().state.fix, HasSubstr("setcap cap_perfmon=ep"));
}

TEST_F(sources_test, perf_asks_the_running_kernel_for_a_counter) {
  // The CPU clock of this machine replaces the power PMU: same calls, same counting for all processes.
  const auto kernel = running_kernel();
  const opened_event clock = kernel->open(1, 0, 0);
  if (clock.error != 0) GTEST_SKIP() << "perf_event_open: " << describe_errno(clock.error);
  const number_read before = kernel->read(clock.descriptor);
  const number_read after = kernel->read(clock.descriptor);
  EXPECT_EQ(before.error, 0);
  EXPECT_GE(after.number, before.number);
  ::close(clock.descriptor);
}

TEST_F(sources_test, perf_and_its_dies_are_called_as_the_topology_says) {
  const fixture_tree tree("intel_2s_server");
  for (const char* cpu : {"cpu0", "cpu32"}) {
    const std::string topology = std::string("/sys/devices/system/cpu/") + cpu + "/topology/";
    tree.set(topology + "physical_package_id", "0");
    tree.set(topology + "die_id", cpu == std::string("cpu0") ? "0" : "1");
  }
  EXPECT_THAT(channel_names(*make_perf(tree.files(), std::make_shared<fake_kernel>())),
              ElementsAre("perf:package-0-die-0", "perf:package-0-die-1", "perf:dram-0-die-0", "perf:dram-0-die-1"));
}

TEST_F(sources_test, perf_asks_one_die_of_a_package_of_amd) {
  const fixture_tree tree("intel_2s_server");
  tree.set("/proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
  for (const char* cpu : {"cpu0", "cpu32"}) {
    const std::string topology = std::string("/sys/devices/system/cpu/") + cpu + "/topology/";
    tree.set(topology + "physical_package_id", "0");
    tree.set(topology + "die_id", cpu == std::string("cpu0") ? "0" : "1");
  }
  EXPECT_THAT(channel_names(*make_perf(tree.files(), std::make_shared<fake_kernel>())),
              ElementsAre("perf:package-0", "perf:dram-0"));
}

// pm_counters

TEST_F(sources_test, pm_counters_has_the_node_and_its_parts) {
  const fixture_tree tree("cray_ex");
  const auto cray = make("pm_counters", tree.files());
  EXPECT_TRUE(cray->description().state.readable);
  EXPECT_THAT(channel_names(*cray),
              ElementsAre("pm_counters:node", "pm_counters:cpu", "pm_counters:memory", "pm_counters:accel0",
                          "pm_counters:accel1", "pm_counters:accel2", "pm_counters:accel3"));
  EXPECT_DOUBLE_EQ(cray->description().interval.value(), 0.1);
  EXPECT_THAT(cray->description().channels[0].basis, HasSubstr("accelerators included"));
  EXPECT_EQ(*read_all(*cray)[0].value, 4'709'000'000U);
}

TEST_F(sources_test, pm_counters_takes_the_files_own_time) {
  const fixture_tree tree("cray_ex");
  replay day(tree, "pm_counters", {{"/sys/cray/pm_counters/energy", "1000 J 1784929200000000 us"}});
  // The test's second passes, of which the controller has written 0.9 s: twice the edge of 2 * 0.1 s in 0.9 s.
  day.after(1, {{"/sys/cray/pm_counters/energy", "1900 J 1784929200900000 us"}});
  const channel_total total = day.total("pm_counters:node");
  EXPECT_DOUBLE_EQ(total.joules, 900);
  EXPECT_NEAR(total.high_j - total.joules, 900 * 0.2 / 0.9, 1e-9);
}

TEST_F(sources_test, pm_counters_of_xc_have_no_stamps) {
  const fixture_tree tree("cray_xc");
  replay day(tree, "pm_counters", {{"/sys/cray/pm_counters/energy", "1203213 J"}});
  day.after(1, {{"/sys/cray/pm_counters/energy", "1203310 J"}});
  EXPECT_DOUBLE_EQ(day.total("pm_counters:node").joules, 97);
}

TEST_F(sources_test, pm_counters_reads_again_while_the_controller_updates) {
  const fixture_tree tree("cray_ex");
  int asked = 0;
  const auto tearing = [&](std::string_view path) {
    // During the first two attempts, each read of freshness returns another number.
    if (path.ends_with("/freshness") && ++asked <= 4)
      tree.set("/sys/cray/pm_counters/freshness", std::to_string(asked));
    if (path.ends_with("/energy") && asked == 3) tree.set("/sys/cray/pm_counters/energy", "5000 J 1784929200000000 us");
    return 0;
  };
  const auto cray = make("pm_counters", tree.files(tearing));
  EXPECT_EQ(*read_all(*cray)[0].value, 5000U);
  EXPECT_EQ(asked, 6);
}

TEST_F(sources_test, pm_counters_flags_a_restarted_controller_as_a_reset) {
  const fixture_tree tree("cray_ex");
  const std::string energy = "/sys/cray/pm_counters/energy", startup = "/sys/cray/pm_counters/startup";
  replay day(tree, "pm_counters", {{energy, "1000 J 1784929200000000 us"}});
  // The new count is higher than the old one, so that nothing else reveals the reset.
  day.after(1, {{energy, "1500 J 1784929201000000 us"}, {startup, "1780055122858999"}});
  day.after(1, {{energy, "1600 J 1784929202000000 us"}});
  const channel_total total = day.total("pm_counters:node");
  EXPECT_DOUBLE_EQ(total.joules, 100);
  EXPECT_EQ(total.resets, 1);
  EXPECT_TRUE(total.lower_bound);
}

TEST_F(sources_test, pm_counters_flags_a_new_power_cap_as_a_lower_bound_and_counts_on) {
  const fixture_tree tree("cray_ex");
  const std::string energy = "/sys/cray/pm_counters/energy";
  replay day(tree, "pm_counters", {{energy, "1000 J 1784929200000000 us"}});
  day.after(1, {{energy, "1500 J 1784929201000000 us"}, {"/sys/cray/pm_counters/generation", "5"}});
  const channel_total total = day.total("pm_counters:node");
  EXPECT_DOUBLE_EQ(total.joules, 500);
  EXPECT_EQ(total.resets, 0);
  EXPECT_TRUE(total.lower_bound);
}

TEST_F(sources_test, pm_counters_that_are_no_joules_are_not_readable) {
  const fixture_tree tree("cray_xc");
  tree.set("/sys/cray/pm_counters/energy", "1203213 W");
  EXPECT_FALSE(make("pm_counters", tree.files())->description().state.readable);
}

// hwmon

TEST_F(sources_test, a_graphics_cards_counter_goes_round_at_32_bits) {
  const fixture_tree tree("intel_gpu");
  const std::string energy = "/sys/class/hwmon/hwmon5/energy1_input";
  replay day(tree, "hwmon", {{energy, "262143900000"}});
  day.after(1, {{energy, "100000000"}});
  const channel_total total = day.total("hwmon:i915");
  EXPECT_NEAR(total.joules, 100.1, 1e-9);
  EXPECT_EQ(total.wraps, 1);
}

TEST_F(sources_test, the_acpi_power_meter_is_the_node_and_is_integrated) {
  const fixture_tree tree("amd_2s");
  const std::string power = "/sys/class/hwmon/hwmon4/power1_average";
  replay day(tree, "hwmon");
  EXPECT_EQ(day.source().description().channels.at(0).covers, domain::node);
  day.after(1, {{power, "400000000"}});
  EXPECT_DOUBLE_EQ(day.total("hwmon:power_meter").joules, 406);
  day.after(1, {{power, fails_with{EIO}}});
  day.after(1, {{power, "400000000"}});
  const channel_total total = day.total("hwmon:power_meter");
  EXPECT_DOUBLE_EQ(total.joules, 1206);
  EXPECT_EQ(total.gaps, 1);
  EXPECT_LE(total.low_j, 1206 - 800);
}

TEST_F(sources_test, a_sensor_nobody_knows_counts_only_when_it_is_named) {
  const fixture_tree tree("grace");
  tree.set("/sys/class/hwmon/hwmon7/name", "ina226");
  tree.set("/sys/class/hwmon/hwmon7/power1_input", "5000000");
  EXPECT_FALSE(make("hwmon", tree.files())->description().state.readable);
  set("LULL_HWMON_CHANNELS", "ina226/power1=dram");
  const auto named = make("hwmon", tree.files());
  EXPECT_THAT(channel_names(*named), ElementsAre("hwmon:ina226-power1"));
  EXPECT_EQ(named->description().channels[0].covers, domain::dram);
  for (const char* wrong : {"ina226/power2=dram", "ina226/power1=ram", "ina226/power1"}) {
    set("LULL_HWMON_CHANNELS", wrong);
    EXPECT_THROW((void)make("hwmon", tree.files()), usage_error) << wrong;
  }
}

TEST_F(sources_test, amd_energy_counts_sockets_and_not_their_cores) {
  const fixture_tree tree("amd_2s");
  const auto amd = make("amd_energy", tree.files());
  EXPECT_THAT(channel_names(*amd), ElementsAre("amd_energy:socket-0", "amd_energy:socket-1"));
  EXPECT_EQ(*read_all(*amd)[0].value, 5'000'000'000'000U);
  const auto denied = make("amd_energy", tree.files([](std::string_view path) {
    return path.find("energy") != std::string_view::npos && path.ends_with("_input") ? EACCES : 0;
  }));
  EXPECT_THAT(denied->description().state.reason, HasSubstr("Permission denied"));
  EXPECT_THAT(denied->description().state.fix, HasSubstr("chmod a+r"));
}

TEST_F(sources_test, hsmp_integrates_the_power_of_each_socket_and_takes_no_limit_for_one) {
  const fixture_tree tree("amd_hsmp");
  const std::string power = "/sys/class/hwmon/hwmon4/power1_input";
  replay day(tree, "hsmp");
  EXPECT_THAT(channel_names(day.source()), ElementsAre("hsmp:socket-0", "hsmp:socket-1"));
  EXPECT_EQ(day.source().description().channels.at(0).covers, domain::package);
  EXPECT_FALSE(make("hwmon", tree.files())->description().state.readable);
  day.after(2, {{power, "146000000"}});
  EXPECT_DOUBLE_EQ(day.total("hsmp:socket-0").joules, 90);
  EXPECT_DOUBLE_EQ(day.total("hsmp:socket-1").joules, 192);
  day.after(1, {{power, fails_with{ETIMEDOUT}}});  // the mailbox is busy
  day.after(1, {{power, "146000000"}});
  const channel_total total = day.total("hsmp:socket-1");
  EXPECT_DOUBLE_EQ(total.joules, 192 + 292);
  EXPECT_EQ(total.gaps, 1);
}

TEST_F(sources_test, hsmp_stands_in_where_rapl_is_for_root) {
  const fixture_tree tree("amd_hsmp");
  const auto denied = [](std::string_view path) { return path.ends_with("energy_uj") ? EACCES : 0; };
  const auto hsmp = make("hsmp", tree.files(denied));
  EXPECT_TRUE(hsmp->description().state.readable);
  EXPECT_FALSE(make("powercap", tree.files(denied))->description().state.readable);
}

TEST_F(sources_test, power_meters_are_found_at_the_device_and_in_the_class) {
  const fixture_tree old_form("grace"), new_form("grace_superchip");
  EXPECT_THAT(channel_names(*make("grace", old_form.files())), ElementsAre("grace:module-0"));
  EXPECT_EQ(make("grace", old_form.files())->description().channels[0].interval.value(), 0.05);
  EXPECT_THAT(channel_names(*make("grace", new_form.files())), ElementsAre("grace:socket-0", "grace:socket-1"));
  EXPECT_FALSE(make("hwmon", new_form.files())->description().state.readable);  // nor a rail as the node
}

TEST_F(sources_test, a_grace_module_is_read_in_place_of_its_socket) {
  const fixture_tree tree("grace");
  EXPECT_THAT(channel_names(*make("grace", tree.files())), ElementsAre("grace:module-0"));
  for (const int n : {7, 8}) {
    const std::string meter = "/sys/class/hwmon/hwmon" + std::to_string(n);
    tree.set(meter + "/name", "power_meter");
    tree.set(meter + "/power1_average", "300000000");
    tree.set(meter + "/power1_oem_info", n == 7 ? "Grace Power Socket 0" : "Grace Power Socket 1");
  }
  const auto grace = make("grace", tree.files());
  EXPECT_THAT(channel_names(*grace), ElementsAre("grace:module-0", "grace:socket-1"));
  EXPECT_FALSE(make("hwmon", tree.files())->description().state.readable);
}

// Wires

TEST_F(sources_test, infiniband_counts_four_bytes_per_unit_on_ports_that_are_up) {
  const fixture_tree tree("ib_mlx5");
  const auto infiniband = make("infiniband", tree.files());
  EXPECT_THAT(channel_names(*infiniband), ElementsAre("infiniband:mlx5_0", "infiniband:mlx5_0-nic"));
  EXPECT_EQ(*read_all(*infiniband)[0].value, 4 * (68'389'581'635U + 86'272'925'506U));
  EXPECT_DOUBLE_EQ(infiniband->description().interval.value(), 0.01);
}

TEST_F(sources_test, bnxt_counts_bytes) {
  const fixture_tree tree("ib_bnxt");
  EXPECT_EQ(*read_all(*make("infiniband", tree.files()))[0].value, 123'456U + 654'321U);
}

TEST_F(sources_test, a_wire_that_its_device_counts_is_not_counted_at_its_interface) {
  const fixture_tree mellanox("ib_mlx5"), cray("cray_ex");
  EXPECT_THAT(make("net", mellanox.files())->description().state.reason, HasSubstr("the wires of ib0 are counted"));
  EXPECT_THAT(make("net", cray.files())->description().state.reason, HasSubstr("hsn0, hsn1, hsn2, hsn3"));
  // If the device cannot be read, the interface is better than nothing.
  const auto denied = [](std::string_view path) { return path.find("port_") != std::string_view::npos ? EACCES : 0; };
  EXPECT_THAT(channel_names(*make("net", mellanox.files(denied))), ElementsAre("net:ib0", "net:ib0-nic"));
}

TEST_F(sources_test, devices_may_be_named_like_interfaces_but_not_both_of_one_wire) {
  const fixture_tree tree("ib_mlx5");
  set("LULL_WIRE_INTERFACES", "ib0");
  EXPECT_THAT(channel_names(*make("net", tree.files())), ElementsAre("net:ib0", "net:ib0-nic"));
  EXPECT_FALSE(make("infiniband", tree.files())->description().state.readable);
  set("LULL_WIRE_INTERFACES", "ib0,mlx5_0");
  EXPECT_THROW((void)make("net", tree.files()), error);
}

TEST_F(sources_test, cxi_reads_octets_with_the_cards_time_and_goes_round_at_56_bits) {
  const fixture_tree tree("cray_ex");
  const std::string folder = "/sys/class/cxi/cxi0/device/telemetry/hni_sts_";
  const std::string tx = folder + "tx_ok_octets", rx = folder + "rx_ok_octets";
  const auto end = std::uint64_t{1} << 56U;
  replay day(tree, "cxi", {{tx, std::to_string(end - 1'000'000) + "@1784929200.5"}, {rx, "5000000@1784929200.5"}});
  day.after(1, {{tx, "2000000@1784929201.5"}, {rx, "6000000@1784929201.5"}});
  const channel_total total = day.total("cxi:cxi0");
  EXPECT_EQ(total.bytes, 4'000'000U);
  EXPECT_FALSE(total.lower_bound);
  EXPECT_NEAR(total.joules, 4 * 0.6e-3, 1e-9);
  EXPECT_NEAR(day.total("cxi:cxi0-nic").joules, 15, 15 * 0.6);
  tree.set(tx, "garbage");
  EXPECT_FALSE(make("cxi", tree.files())->description().state.readable);
}

TEST_F(sources_test, no_source_is_readable_on_a_machine_without_it) {
  const temporary_folder empty;
  for (const source_entry& entry : source_table()) {
    const auto nothing = entry.make(sysroot(empty.path().string()));
    EXPECT_FALSE(nothing->description().state.readable) << entry.name;
    EXPECT_FALSE(nothing->description().state.reason.empty()) << entry.name;
    EXPECT_EQ(nothing->description().name, entry.name);
  }
}

TEST_F(sources_test, an_input_output_error_everywhere_leaves_every_source_unreadable_with_a_reason) {
  for (const char* name : {"intel_2s_server", "amd_2s", "cray_ex", "cray_xc", "grace", "intel_gpu", "ib_mlx5",
                           "ib_bnxt", "eth", "vm_nothing"})
    for (const int fault : {EIO, EACCES}) {
      const fixture_tree tree(name);
      for (const source_entry& entry : source_table()) {
        const auto failing = entry.make(tree.files([&](std::string_view) { return fault; }));
        EXPECT_FALSE(failing->description().state.readable) << name << ' ' << entry.name;
        EXPECT_FALSE(failing->description().state.reason.empty()) << name << ' ' << entry.name;
      }
    }
}

TEST_F(sources_test, a_power_meter_of_the_machine_that_shows_nonsense_is_left_out) {
  const fixture_tree tree("amd_2s");
  for (const char* microwatts : {"0", "65535000000"}) {
    tree.set("/sys/class/hwmon/hwmon4/power1_average", microwatts);
    const auto hwmon = make("hwmon", tree.files());
    EXPECT_FALSE(hwmon->description().state.readable);
    EXPECT_THAT(hwmon->description().state.reason, HasSubstr("not a plausible power of a node"));
  }
  tree.set("/sys/class/hwmon/hwmon9/name", "i915");
  tree.set("/sys/class/hwmon/hwmon9/energy1_input", "1000");
  const auto card = make("hwmon", tree.files());
  EXPECT_THAT(channel_names(*card), ElementsAre("hwmon:i915"));
  EXPECT_THAT(card->description().left_out, HasSubstr("power1_average: 65535 W"));
}

}  // namespace
}  // namespace lull::meter
