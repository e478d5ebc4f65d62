#include "meter/still_counters.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <cerrno>
#include <map>

#include "meter/sources/perf.hpp"
#include "tree.hpp"

namespace lull::meter {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class still_counters_test : public meter_test {};

// Each event starts at 0 when it is opened, and moves at its n-th reading.
class fake_kernel final : public perf_kernel {
 public:
  static constexpr int never = 1000;
  // By the code of the event.
  explicit fake_kernel(std::map<std::uint64_t, int> moves_at) : moves_at_(std::move(moves_at)) {}
  [[nodiscard]] opened_event open(std::uint32_t, std::uint64_t config, int) const override {
    const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    events_[descriptor] = {moves_at_.at(config), 0};
    return {descriptor, 0};
  }
  [[nodiscard]] number_read read(int descriptor) const override {
    event& e = events_.at(descriptor);
    ++e.readings;
    if (fails_) return {0, EIO};
    return {e.readings < e.moves_at ? std::uint64_t{0} : 1000, 0};
  }
  [[nodiscard]] int readings() const {
    int most = 0;
    for (const auto& [descriptor, e] : events_) most = std::max(most, e.readings);
    return most;
  }
  bool fails_ = false;

 private:
  struct event {
    int moves_at, readings;
  };
  std::map<std::uint64_t, int> moves_at_;
  mutable std::map<int, event> events_;
};

constexpr std::uint64_t packages = 2, memories = 3, platform = 5;  // codes of the events

// The power PMU of a machine that also has the platform's counter.
class server_with_platform : public fixture_tree {
 public:
  server_with_platform() : fixture_tree("intel_2s_server") {
    const std::string psys = "/sys/bus/event_source/devices/power/events/energy-psys";
    set(psys, "event=0x05");
    set(psys + ".unit", "Joules");
    set(psys + ".scale", "2.3283064365386962890625e-10");
  }
};

TEST_F(still_counters_test, the_same_counters_are_waited_for_once_in_a_process) {
  const server_with_platform tree;
  for (const int looks : {7, 1}) {
    const auto kernel = std::make_shared<fake_kernel>(
        std::map<std::uint64_t, int>{{packages, 1}, {memories, 1}, {platform, fake_kernel::never}});
    const auto perf = without_still_counters(make_perf(tree.files(), kernel), true);
    EXPECT_THAT(perf->description().left_out, testing::HasSubstr("stays at 0"));
    EXPECT_EQ(kernel->readings(), looks);
  }
}

TEST_F(still_counters_test, counters_that_begin_with_0_at_their_opening_are_waited_for) {
  const server_with_platform tree;
  const auto kernel =
      std::make_shared<fake_kernel>(std::map<std::uint64_t, int>{{packages, 2}, {memories, 3}, {platform, 5}});
  const auto perf = without_still_counters(make_perf(tree.files(), kernel));
  EXPECT_TRUE(perf->description().state.readable);
  EXPECT_EQ(perf->description().channels.size(), 5U);
  EXPECT_THAT(perf->description().left_out, IsEmpty());
  EXPECT_EQ(kernel->readings(), 5);
}

TEST_F(still_counters_test, one_that_never_moves_is_left_out_and_the_others_are_read_in_their_order) {
  const server_with_platform tree;
  const auto kernel = std::make_shared<fake_kernel>(
      std::map<std::uint64_t, int>{{packages, 1}, {memories, 2}, {platform, fake_kernel::never}});
  const auto perf = without_still_counters(make_perf(tree.files(), kernel));
  EXPECT_TRUE(perf->description().state.readable);
  EXPECT_THAT(channel_names(*perf), ElementsAre("perf:package-0", "perf:package-1", "perf:dram-0", "perf:dram-1"));
  EXPECT_EQ(perf->description().left_out, "the counter of perf:psys stays at 0");
  for (const reading& r : read_all(*perf)) EXPECT_EQ(r.value, 1000U);
}

TEST_F(still_counters_test, a_source_of_which_nothing_moves_is_not_readable) {
  const server_with_platform tree;
  for (const char* event : {"energy-pkg", "energy-ram"})
    tree.set(std::string("/sys/bus/event_source/devices/power/events/") + event, "");
  const auto kernel = std::make_shared<fake_kernel>(std::map<std::uint64_t, int>{{platform, fake_kernel::never}});
  const auto perf = without_still_counters(make_perf(tree.files(), kernel));
  EXPECT_FALSE(perf->description().state.readable);
  EXPECT_EQ(perf->description().state.reason, "the counter of perf:psys stays at 0");
  EXPECT_THAT(channel_names(*perf), ElementsAre("perf:psys"));
}

TEST_F(still_counters_test, a_reading_that_fails_is_a_gap_and_no_counter_at_rest) {
  const server_with_platform tree;
  const auto kernel = std::make_shared<fake_kernel>(
      std::map<std::uint64_t, int>{{packages, fake_kernel::never}, {memories, 1}, {platform, 1}});
  kernel->fails_ = true;
  EXPECT_EQ(without_still_counters(make_perf(tree.files(), kernel))->description().channels.size(), 5U);
}

TEST_F(still_counters_test, a_machine_whose_counters_have_moved_is_read_once) {
  const fixture_tree tree("intel_client_psys_mmio");
  int asked = 0;
  auto rapl = make("powercap", tree.files([&](std::string_view path) {
    if (path.ends_with("/energy_uj")) ++asked;
    return 0;
  }));
  asked = 0;
  const source* const made = rapl.get();
  EXPECT_EQ(without_still_counters(std::move(rapl)).get(), made);
  EXPECT_EQ(asked, 2);
}

TEST_F(still_counters_test, what_may_rest_and_a_graphics_card_are_left_alone) {
  const fixture_tree card("intel_gpu"), machine("vm_nothing");
  card.set("/sys/class/hwmon/hwmon5/energy1_input", "0");
  EXPECT_THAT(channel_names(*without_still_counters(make("hwmon", card.files()))), ElementsAre("hwmon:i915"));
  machine.set("/proc/stat", "cpu 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0");
  EXPECT_TRUE(without_still_counters(make("estimate", machine.files()))->description().state.readable);
}

TEST_F(still_counters_test, meters_of_the_node_and_sockets_are_looked_at_as_well) {
  const fixture_tree cray("cray_xc"), amd("amd_2s");
  cray.set("/sys/cray/pm_counters/energy", "0 J");
  EXPECT_FALSE(without_still_counters(make("pm_counters", cray.files()))->description().state.readable);
  for (const std::string& file : amd.files().list("/sys/class/hwmon/hwmon3"))
    if (file.ends_with("_input")) amd.set("/sys/class/hwmon/hwmon3/" + file, "0");
  EXPECT_FALSE(without_still_counters(make("amd_energy", amd.files()))->description().state.readable);
}

}  // namespace
}  // namespace lull::meter
