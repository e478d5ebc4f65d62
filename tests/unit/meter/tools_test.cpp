// The sources that use a library or a command, with small libraries and scripts in place of the real ones.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "meter/choice.hpp"
#include "meter/parts/command.hpp"
#include "meter/tally.hpp"
#include "tree.hpp"

namespace lull::meter {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class tools_test : public meter_test {
 protected:
  ~tools_test() override {
    unsetenv("FAKE_NVML");
    unsetenv("FAKE_ROCM");
  }

  [[nodiscard]] std::string answer(const std::string& file) const { return "cat " + tree_.root() + "/" + file; }
  static std::unique_ptr<source> made(std::string_view name) { return make(name, sysroot("/")); }

  const fixture_tree tree_{"tools"};
};

// A command

TEST_F(tools_test, a_command_gives_its_output_or_one_line_of_what_went_wrong) {
  EXPECT_EQ(command("echo 430; echo not this >&2").run(5s).output, "430\n");
  EXPECT_EQ(command("echo no device >&2; echo more >&2; exit 3").run(5s).failure, "exit status 3: no device");
  EXPECT_THAT(command("kill -9 $$").run(5s).failure, HasSubstr("signal 9"));
}

TEST_F(tools_test, a_command_has_the_environment_of_when_it_was_made) {
  setenv("FAKE_NVML", "before", 1);
  const command said("echo $FAKE_NVML");
  setenv("FAKE_NVML", "after", 1);
  EXPECT_EQ(said.run(5s).output, "before\n");
}

TEST_F(tools_test, a_command_that_hangs_is_killed_with_all_it_started) {
  const std::int64_t before = now_ns();
  const command_result hung = command("sleep 60 & sleep 60").run(200ms);
  EXPECT_EQ(hung.failure, "no answer within 0.2 s");
  EXPECT_LT(now_ns() - before, 5'000'000'000);
}

TEST_F(tools_test, a_command_can_be_stopped_at_once) {
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(50ms);
    stop.request_stop();
  });
  const std::int64_t before = now_ns();
  EXPECT_EQ(command("sleep 60").run(60s, stop.get_token()).failure, "stopped");
  EXPECT_LT(now_ns() - before, 5'000'000'000);
}

// ipmi, redfish, snmp

TEST_F(tools_test, ipmi_reads_the_power_of_the_node) {
  set("LULL_IPMI_COMMAND", answer("ipmitool_dcmi.txt").c_str());
  const auto ipmi = made("ipmi");
  ASSERT_TRUE(ipmi->description().state.readable) << ipmi->description().state.reason;
  EXPECT_EQ(ipmi->description().channels[0].covers, domain::node);
  tally total(ipmi->description().channels[0]);
  total.add(read_all(*ipmi)[0]);
  std::this_thread::sleep_for(200ms);
  total.add(read_all(*ipmi)[0]);
  EXPECT_NEAR(total.total().joules, 430 * 0.2, 430 * 0.2);
  EXPECT_GT(total.total().joules, 430 * 0.19);
}

TEST_F(tools_test, ipmi_whose_power_reading_is_off_is_not_readable) {
  set("LULL_IPMI_COMMAND", answer("ipmitool_dcmi_inactive.txt").c_str());
  EXPECT_THAT(made("ipmi")->description().state.reason, HasSubstr("power reading is deactivated"));
}

TEST_F(tools_test, without_a_controller_no_command_is_run) {
  EXPECT_EQ(make("ipmi", tree_.files())->description().state.reason, "there is no /dev/ipmi0 here");
}

TEST_F(tools_test, redfish_reads_both_forms) {
  for (const char* file : {"redfish_power.json", "redfish_environment_metrics.json"}) {
    set("LULL_REDFISH_COMMAND", answer(file).c_str());
    const auto redfish = made("redfish");
    EXPECT_TRUE(redfish->description().state.readable) << redfish->description().state.reason;
    EXPECT_TRUE(read_all(*redfish)[0].value);
  }
  set("LULL_REDFISH_COMMAND", "echo '{\"error\": {\"message\": \"no session\"}}'");
  EXPECT_THAT(made("redfish")->description().state.reason, HasSubstr("no session"));
  set("LULL_REDFISH_COMMAND", "echo '<html>'");
  EXPECT_THAT(made("redfish")->description().state.reason, HasSubstr("not JSON"));
  set("LULL_REDFISH_COMMAND", "echo '{\"PowerWatts\": {\"Reading\": null}}'");
  EXPECT_FALSE(made("redfish")->description().state.readable);
}

TEST_F(tools_test, an_answer_of_any_form_is_no_reading_and_ends_nothing) {
  set("LULL_COMMAND_INTERVAL_S", "0.05");
  for (const char* answer :
       {"null", "[]", "[{}]", "3", "\"text\"", "true", "{}", "{\"PowerControl\": {}}",
        "{\"PowerControl\": [null, 1, \"x\", [], {\"PowerConsumedWatts\": \"430\"}]}",
        "{\"PowerWatts\": {\"Reading\": \"1\"}}", "{\"error\": null}", "{\"error\": {\"message\": 3}}",
        "{\"PowerWatts\": {\"Reading\": 430, \"ReadingUnits\": \"Cel\"}}", "{\"a\": \"\\351\"}"}) {
    const std::string file = "/answer.json";
    tree_.set(file, answer);
    set("LULL_REDFISH_COMMAND", ("cat " + tree_.root() + file).c_str());
    EXPECT_FALSE(made("redfish")->description().state.readable) << answer;
    // Nor does it later, in the querying thread.
    tree_.set(file, R"({"PowerControl": [{"PowerConsumedWatts": 300}]})");
    const auto redfish = made("redfish");
    ASSERT_TRUE(redfish->description().state.readable);
    tree_.set(file, answer);
    std::string complaint;
    while (complaint.empty()) {
      std::this_thread::sleep_for(5ms);
      complaint = redfish->complaint();
    }
    EXPECT_FALSE(read_all(*redfish)[0].value) << answer;
  }
}

TEST_F(tools_test, redfish_takes_the_power_of_the_node_not_of_a_part) {
  const auto watts = [&](const std::string& entries) -> std::string {
    tree_.set("/power.json", "{\"PowerControl\": [" + entries + "]}");
    set("LULL_REDFISH_COMMAND", ("cat " + tree_.root() + "/power.json").c_str());
    const auto redfish = made("redfish");
    return redfish->description().state.readable ? "" : redfish->description().state.reason;
  };
  EXPECT_THAT(watts(R"({"Name": "CPU Sub-system Power", "PowerConsumedWatts": 120})"), HasSubstr("part of the node"));
  EXPECT_THAT(watts(R"({"PhysicalContext": "Memory", "PowerConsumedWatts": 20})"), HasSubstr("part of the node"));
  EXPECT_EQ(watts(R"({"PhysicalContext": "CPU", "PowerConsumedWatts": 0},
                     {"Name": "System Power Control", "PowerConsumedWatts": 430})"),
            "");
  EXPECT_THAT(watts(R"({"MemberId": "0", "PowerConsumedWatts": 400}, {"MemberId": "1", "PowerConsumedWatts": 390},
                       {"MemberId": "2", "PowerConsumedWatts": 410})"),
              HasSubstr("3 entries of PowerControl may be the node"));
  tree_.set("/power.json", R"({"@odata.id": "/redfish/v1/Systems/1/Processors/CPU0/EnvironmentMetrics",
                               "PowerWatts": {"Reading": 120}})");
  EXPECT_THAT(made("redfish")->description().state.reason, HasSubstr("metrics cover only a part"));
}

TEST_F(tools_test, what_no_node_can_draw_is_not_read_and_says_which_settings_decide) {
  for (const char* answer : {"0", "65535", "430 kW", "12000 kW"}) {
    set("LULL_SNMP_COMMAND", (std::string("echo ") + answer).c_str());
    const auto snmp = made("snmp");
    EXPECT_FALSE(snmp->description().state.readable) << answer;
    EXPECT_THAT(snmp->description().state.reason, HasSubstr("LULL_NODE_WATTS")) << answer;
    EXPECT_THAT(snmp->description().state.fix, HasSubstr("LULL_SNMP_SCALE")) << answer;
  }
  set("LULL_SNMP_COMMAND", "echo 43000");
  set("LULL_SNMP_SCALE", "0.01");
  EXPECT_TRUE(made("snmp")->description().state.readable) << made("snmp")->description().state.reason;
  set("LULL_SNMP_SCALE", "1");
  set("LULL_NODE_WATTS", "1..50000");
  EXPECT_TRUE(made("snmp")->description().state.readable);
  set("LULL_NODE_WATTS", "much");
  EXPECT_THROW(made("snmp"), usage_error);
}

TEST_F(tools_test, a_meter_that_is_asked_for_and_not_believed_leaves_the_place_to_the_next_and_is_named) {
  set("LULL_SNMP_COMMAND", "echo 65535");
  const fixture_tree client("intel_client_psys_mmio");
  const chosen_sources chosen = choose_sources(client.files());
  for (const auto& s : chosen.to_read) EXPECT_NE(s->description().name, "snmp");
  ASSERT_EQ(chosen.not_read.size(), 1U);
  EXPECT_THAT(chosen.not_read[0],
              HasSubstr("snmp is not read: echo 65535: 65535 W is not a plausible power of a node"));
}

TEST_F(tools_test, redfish_asks_a_url_with_curl) {
  set("LULL_REDFISH_URL", ("file://" + tree_.root() + "/redfish_power.json").c_str());
  if (!command("command -v curl").run(5s).failure.empty()) GTEST_SKIP() << "curl is not installed";
  EXPECT_TRUE(made("redfish")->description().state.readable) << made("redfish")->description().state.reason;
}

TEST_F(tools_test, snmp_takes_the_last_number_as_watts_or_watt_hours) {
  set("LULL_SNMP_COMMAND", (answer("pdu_snmpwalk.txt") + " | head -1").c_str());
  set("LULL_COMMAND_INTERVAL_S", "0.05");
  const auto watts = made("snmp");
  ASSERT_TRUE(watts->description().state.readable);
  tally total(watts->description().channels[0]);
  total.add(read_all(*watts)[0]);
  std::this_thread::sleep_for(300ms);
  total.add(read_all(*watts)[0]);
  EXPECT_GT(total.total().joules, 4211 * 0.29);

  set("LULL_SNMP_COMMAND", answer("pdu_snmpwalk.txt").c_str());
  set("LULL_SNMP_UNIT", "Wh");
  const auto count = made("snmp");
  EXPECT_EQ(*read_all(*count)[0].value, 98'123'311ULL * 3'600'000'000ULL);
  EXPECT_DOUBLE_EQ(read_all(*count)[0].pending, 3.6e9);
  set("LULL_SNMP_COMMAND", "echo none");
  EXPECT_THAT(made("snmp")->description().state.reason, HasSubstr("begin with a number"));
}

TEST_F(tools_test, a_command_that_comes_to_hang_never_keeps_the_sampler_waiting_and_is_a_gap) {
  const std::string mark = tree_.root() + "/hang";
  set("LULL_IPMI_COMMAND", ("test -e " + mark + " && sleep 60; " + answer("ipmitool_dcmi.txt")).c_str());
  set("LULL_COMMAND_INTERVAL_S", "0.05");
  set("LULL_COMMAND_TIMEOUT_S", "0.2");
  std::int64_t ended = 0;
  {
    const auto ipmi = made("ipmi");
    ASSERT_TRUE(ipmi->description().state.readable);
    tally total(ipmi->description().channels[0]);
    total.add(read_all(*ipmi)[0]);
    tree_.set("/hang", "");
    std::int64_t longest = 0;
    for (int i = 0; i < 60; ++i) {
      std::this_thread::sleep_for(10ms);
      const std::int64_t before = now_ns();
      total.add(read_all(*ipmi)[0]);
      longest = std::max(longest, now_ns() - before);
    }
    EXPECT_LT(longest, 150'000'000);  // waiting would take the time-out of 0.2 s
    EXPECT_GT(total.total().gaps, 0);
    EXPECT_TRUE(total.total().lower_bound);
    ended = now_ns();
  }
  EXPECT_LT(now_ns() - ended, 2'000'000'000);
}

// nvml and rocm

TEST_F(tools_test, nvml_counts_and_integrates_where_a_gpu_does_not_count) {
  set("LULL_NVML_LIBRARY", LULL_FAKE_NVML);
  setenv("FAKE_NVML", (tree_.root() + "/nvml_fake.json").c_str(), 1);
  const auto nvml = made("nvml");
  ASSERT_TRUE(nvml->description().state.readable) << nvml->description().state.reason;
  EXPECT_THAT(channel_names(*nvml), ElementsAre("nvml:gpu0", "nvml:gpu1"));
  const auto& channels = nvml->description().channels;
  EXPECT_THAT(channels[0].basis, HasSubstr("GPU-0, nvmlDeviceGetTotalEnergyConsumption"));
  EXPECT_THAT(channels[1].basis, HasSubstr("integrated"));
  EXPECT_THAT(channels[1].basis, HasSubstr("divided (MIG)"));
  tally counted(channels[0]), integrated(channels[1]);
  const auto sample = [&] {
    const auto now = read_all(*nvml);
    counted.add(now[0]);
    integrated.add(now[1]);
  };
  sample();
  std::this_thread::sleep_for(100ms);
  tree_.set("/nvml_fake.json",
            R"([{"uuid": "GPU-0", "total_energy_mJ": 123487989}, {"uuid": "GPU-1", "power_mW": 61000}])");
  sample();
  EXPECT_NEAR(counted.total().joules, 31.2, 1e-9);
  EXPECT_GT(integrated.total().joules, 6.1 * 0.99);
  tree_.set("/nvml_fake.json", R"([{"uuid": "GPU-0", "lost": 1}, {"uuid": "GPU-1", "lost": 1}])");
  sample();
  EXPECT_EQ(counted.total().gaps, 1);
  EXPECT_EQ(integrated.total().gaps, 1);
}

TEST_F(tools_test, a_gpu_that_does_not_answer_makes_nvml_unreadable) {
  set("LULL_NVML_LIBRARY", LULL_FAKE_NVML);
  setenv("FAKE_NVML", (tree_.root() + "/nvml_fake.json").c_str(), 1);
  tree_.set("/nvml_fake.json", R"([{"uuid": "a", "total_energy_mJ": 1}, {"uuid": "b", "lost": 1}])");
  const auto nvml = made("nvml");
  EXPECT_FALSE(nvml->description().state.readable);
  EXPECT_EQ(nvml->description().state.reason, "GPU 1: GPU is lost");
  tree_.set("/nvml_fake.json", "[]");
  EXPECT_EQ(made("nvml")->description().state.reason, "NVML finds no GPU");
  set("LULL_NVML_LIBRARY", LULL_FAKE_ROCM);
  EXPECT_THAT(made("nvml")->description().state.reason, HasSubstr("is not NVML"));
  set("LULL_NVML_LIBRARY", "/nowhere/libnvml.so");
  EXPECT_THAT(made("nvml")->description().state.reason, HasSubstr("/nowhere/libnvml.so"));
}

TEST_F(tools_test, rocm_counts_a_card_of_two_dies_once) {
  set("LULL_ROCM_LIBRARY", LULL_FAKE_ROCM);
  setenv("FAKE_ROCM", (tree_.root() + "/rocm.json").c_str(), 1);
  tree_.set("/rocm.json", R"({"accumulators": [65628, 0], "counter_resolution_uJ": 15.3, "timestamp_ns": 1000})");
  const auto rocm = made("rocm");
  ASSERT_TRUE(rocm->description().state.readable) << rocm->description().state.reason;
  EXPECT_THAT(channel_names(*rocm), ElementsAre("rocm:gpu0"));
  EXPECT_THAT(rocm->description().channels[0].basis, HasSubstr("of both dies (device 1"));
  tally total(rocm->description().channels[0]);
  total.add(read_all(*rocm)[0]);
  std::this_thread::sleep_for(200ms);
  tree_.set("/rocm.json",
            R"({"accumulators": [1065628, 0], "counter_resolution_uJ": 15.3, "timestamp_ns": 200001000})");
  total.add(read_all(*rocm)[0]);
  EXPECT_NEAR(total.total().joules, 15.3, 1e-5);
}

TEST_F(tools_test, a_rocm_counter_that_stands_at_0_is_not_taken_for_no_energy) {
  set("LULL_ROCM_LIBRARY", LULL_FAKE_ROCM);
  setenv("FAKE_ROCM", (tree_.root() + "/rocm.json").c_str(), 1);
  tree_.set("/rocm.json", R"({"accumulators": [0], "counter_resolution_uJ": 15.3, "timestamp_ns": 1})");
  EXPECT_EQ(made("rocm")->description().state.reason, "the counter of GPU 0 stays at 0");
  tree_.set("/rocm.json", R"({"accumulators": [null], "counter_resolution_uJ": 15.3, "timestamp_ns": 1})");
  EXPECT_THAT(made("rocm")->description().state.reason, HasSubstr("error 2"));
}

}  // namespace
}  // namespace lull::meter
