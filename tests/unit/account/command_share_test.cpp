#include "account/command_share.hpp"

#include <gtest/gtest.h>

namespace lull::account {
namespace {

counted_energy package(double joules, std::optional<double> idle_w = {}) {
  return {.channel = "powercap:package-0",
          .covers = meter::domain::package,
          .kind = meter::kind::vendor_model,
          .joules = joules,
          .low_j = joules * 0.9,
          .high_j = joules * 1.1,
          .idle_w = idle_w};
}
const use_of_node quarter{.seconds = 10, .command_cpu_s = 5, .others_cpu_s = 15, .command_cpus = 2, .cpus = 4};

TEST(command_share, of_a_known_idle_power_is_by_cpus_and_the_rest_by_cpu_time) {
  const std::vector node{package(100, 4)};
  const auto share = share_of_command(node, quarter);
  EXPECT_EQ(share[0].held_uj, 20'000'000);    // 40 J idle, 2 CPUs of 4
  EXPECT_EQ(share[0].active_uj, 15'000'000);  // 60 J, 5 s of 20
  EXPECT_EQ(share[0].kind, meter::kind::derived);
  EXPECT_NEAR(share[0].low_uj, 31.5e6, 1);
  EXPECT_NEAR(share[0].high_uj, 38.5e6, 1);
}

TEST(command_share, of_an_unknown_idle_power_reaches_to_where_all_is_idle) {
  const std::vector node{package(100)};
  const auto share = share_of_command(node, quarter);
  EXPECT_EQ(share[0].uj(), 25'000'000);
  EXPECT_NEAR(share[0].low_uj, 22.5e6, 1);
  EXPECT_NEAR(share[0].high_uj, 27.5e6 + 25e6, 1);
}

TEST(command_share, of_the_command_and_of_the_others_is_the_node) {
  const std::vector node{package(100, 0)};
  use_of_node other = quarter;
  std::swap(other.command_cpu_s, other.others_cpu_s);
  EXPECT_EQ(share_of_command(node, quarter)[0].uj() + share_of_command(node, other)[0].uj(), 100'000'000);
}

TEST(command_share, keeps_a_weaker_kind_and_leaves_accelerators_out) {
  counted_energy estimated = package(10), gpu = package(30);
  estimated.kind = meter::kind::estimated;
  gpu.covers = meter::domain::gpu;
  gpu.channel = "nvml:gpu0";
  const std::vector node{estimated, gpu};
  const auto share = share_of_command(node, quarter);
  EXPECT_EQ(share[0].kind, meter::kind::estimated);
  EXPECT_EQ(share[1].uj(), 0);
}

TEST(command_share, of_nothing_is_nothing) {
  const std::vector node{package(0)};
  EXPECT_EQ(share_of_command(node, {})[0].uj(), 0);
  EXPECT_TRUE(share_of_command({}, quarter).empty());
}

}  // namespace
}  // namespace lull::account
