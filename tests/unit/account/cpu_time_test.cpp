#include "account/cpu_time.hpp"

#include <gtest/gtest.h>

#include "surroundings.hpp"

namespace lull::account {
namespace {

TEST(cpu_time, is_the_line_usage_usec) {
  EXPECT_EQ(usage_us_in("usage_usec 1234\nuser_usec 1000\nsystem_usec 234\n"), 1234);
  EXPECT_EQ(usage_us_in("user_usec 7\nusage_usec 8"), 8);
  EXPECT_EQ(usage_us_in("user_usec 7\n"), std::nullopt);
  EXPECT_EQ(usage_us_in("usage_usec -8\n"), std::nullopt);
  EXPECT_EQ(usage_us_in("usage_usec 8x\n"), std::nullopt);
  EXPECT_EQ(usage_us_in(""), std::nullopt);
}

TEST(cpu_time, of_a_group_that_has_gone_is_missing_and_others_are_read) {
  const temporary_folder tree;
  tree.write("cg/cpu.stat", "usage_usec 100");
  tree.write("cg/a/cpu.stat", "usage_usec 30");
  tree.write("cg/b/cpu.stat", "usage_usec 20");
  cpu_time_reader reader(meter::sysroot(tree.path().string()), "/cg");
  const std::vector<std::string> both{"/a", "/b"};
  EXPECT_EQ(reader.usages_us(both), (std::map<std::string, std::int64_t>{{"/a", 30}, {"/b", 20}}));
  tree.write("cg/a/cpu.stat", "usage_usec 31");
  std::filesystem::remove_all(tree.path() / "cg" / "b");
  // An open file of a removed folder still has its content here; that of a removed cgroup gives ENODEV.
  EXPECT_EQ(reader.usages_us(std::vector<std::string>{"/a"}), (std::map<std::string, std::int64_t>{{"/a", 31}}));
  EXPECT_EQ(reader.usages_us(both), (std::map<std::string, std::int64_t>{{"/a", 31}}));
  EXPECT_EQ(reader.usage_us(""), 100);
}

}  // namespace
}  // namespace lull::account
