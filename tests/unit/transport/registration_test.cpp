// Which connections are known to carry out RDMA, and when LULL_RDMA=auto registers the heap for it.
#include "transport/registration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "transport/ucx/lanes.hpp"

namespace lull::transport {
namespace {

bool by_adapter(const std::vector<std::string_view>& lanes) { return are_by_adapter(lanes); }

TEST(transport_lanes, adapters_of_reliable_connections_need_no_peer) {
  EXPECT_TRUE(by_adapter({"rc_verbs"}));
  EXPECT_TRUE(by_adapter({"rc_mlx5", "rc_mlx5"}));
  EXPECT_TRUE(by_adapter({"dc_mlx5"}));
}

TEST(transport_lanes, one_lane_over_another_transport_makes_it_unknown) {
  for (const char* const other :
       {"ud_verbs", "ud_mlx5", "tcp", "posix", "sysv", "cma", "self", "srd", "gga_mlx5", "rc", "<unknown>", ""}) {
    EXPECT_FALSE(by_adapter({other})) << other;
    EXPECT_FALSE(by_adapter({"rc_mlx5", other})) << other;
  }
}

TEST(transport_lanes, a_connection_without_lanes_is_not_known) { EXPECT_FALSE(by_adapter({})); }

constexpr std::uint64_t gib = std::uint64_t{1} << 30U;

std::string why_not(std::uint64_t heap, int here, std::size_t adapters, const memory_limits& limits) {
  static std::byte first;
  return why_not_registered({.processes = here, .here = here, .one_host = false, .memory = {&first, heap}}, adapters,
                            limits);
}

TEST(transport_registration, takes_heaps_of_an_eighth_of_the_memory) {
  EXPECT_EQ(why_not(gib, 64, 1, {.bytes = 512 * gib, .locked_bytes = no_limit}), "");
  EXPECT_THAT(why_not(gib, 65, 1, {.bytes = 512 * gib, .locked_bytes = no_limit}),
              testing::AllOf(testing::HasSubstr("65 PEs, 65 GiB"), testing::HasSubstr("512 GiB")));
}

TEST(transport_registration, counts_what_each_adapter_locks) {
  const memory_limits limits{.bytes = 512 * gib, .locked_bytes = 2 * gib};
  EXPECT_EQ(why_not(gib, 1, 1, limits), "");
  EXPECT_THAT(why_not(gib, 1, 2, limits), testing::HasSubstr("ulimit -l is 2 GiB"));
}

TEST(transport_registration, needs_room_for_the_buffers_of_the_network) {
  EXPECT_NE(why_not(gib, 1, 1, {.bytes = 512 * gib, .locked_bytes = gib}), "");
}

class cgroups : public testing::Test {
 protected:
  cgroups() { std::filesystem::create_directories(mount); }
  ~cgroups() override { std::filesystem::remove_all(folder); }
  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((folder / file).parent_path());
    std::ofstream(folder / file) << text;
  }
  [[nodiscard]] std::uint64_t limit() const { return limit_of_cgroups(folder / "list", mount); }

  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("cgroups_" + std::to_string(getpid()));
  const std::filesystem::path mount = folder / "fs";
};

TEST_F(cgroups, the_least_limit_of_a_group_and_those_above_it_applies) {
  write("list", "0::/system.slice/job_7/step_0\n");
  write("fs/system.slice/memory.max", "max\n");
  write("fs/system.slice/job_7/memory.max", "4294967296\n");
  write("fs/system.slice/job_7/step_0/memory.max", "8589934592\n");
  EXPECT_EQ(limit(), 4 * gib);
}

TEST_F(cgroups, the_first_version_has_a_group_for_memory) {
  write("list", "5:cpu,cpuacct:/a\n4:memory:/a\n");
  write("fs/memory/a/memory.limit_in_bytes", "1073741824\n");
  EXPECT_EQ(limit(), gib);
}

TEST_F(cgroups, without_a_limit_there_is_none) {
  EXPECT_EQ(limit(), no_limit);
  write("list", "0::/\n");
  write("fs/memory.max", "max\n");
  EXPECT_EQ(limit(), no_limit);
  write("list", "no colons\n0:\n");
  EXPECT_EQ(limit(), no_limit);
}

}  // namespace
}  // namespace lull::transport
