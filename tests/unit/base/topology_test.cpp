#include "base/topology.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error.hpp"

namespace lull {
namespace {

// A kernel with masks of 4,096 bits, as sched_getaffinity shows it.
int of_a_large_machine(pid_t, std::size_t bytes, cpu_set_t* mask) {
  if (bytes < 4096 / 8) {
    errno = EINVAL;
    return -1;
  }
  CPU_ZERO_S(bytes, mask);
  for (const std::size_t core : {3U, 1023U, 1024U, 4095U}) CPU_SET_S(core, bytes, mask);
  return 0;
}

int that_refuses(pid_t, std::size_t, cpu_set_t*) {
  errno = EPERM;
  return -1;
}

int that_never_fits(pid_t, std::size_t, cpu_set_t*) {
  errno = EINVAL;
  return -1;
}

TEST(allowed_cores, of_a_machine_of_more_than_1024_are_all_found) {
  EXPECT_THAT(allowed_cores(of_a_large_machine), testing::ElementsAre(3, 1023, 1024, 4095));
}

TEST(allowed_cores, that_the_kernel_does_not_tell_are_an_error) {
  EXPECT_THROW((void)allowed_cores(that_refuses), error);
  EXPECT_THROW((void)allowed_cores(that_never_fits), error);
}

TEST(allowed_cores, are_those_of_the_affinity_mask) {
  const auto before = allowed_cores();
  ASSERT_FALSE(before.empty());
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(before.back()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_THAT(allowed_cores(), testing::ElementsAre(before.back()));
  EXPECT_EQ(this_topology().usable_cores, 1);
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const int core : before) CPU_SET(static_cast<std::size_t>(core), &all);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

TEST(list_of_numbers, has_ranges_and_single_numbers_in_its_order) {
  EXPECT_EQ(numbers_in("0-3,8 10"), (std::vector{0, 1, 2, 3, 8, 10}));
  EXPECT_EQ(numbers_in("7,2"), (std::vector{7, 2}));
  EXPECT_TRUE(numbers_in("").empty());
}

TEST(list_of_numbers, is_empty_where_it_is_something_else) {
  for (const char* const text : {"none", "0-", "0-3-5", "1;2", "0,x", "-", "-1"})
    EXPECT_TRUE(numbers_in(text).empty()) << text;
}

TEST(list_of_numbers, of_a_file_gone_wrong_has_an_end) {
  EXPECT_EQ(numbers_in("0-2147483647").size(), std::size_t{1} << 20U);
  EXPECT_TRUE(numbers_in("5-3").empty());
}

TEST(numa_node, of_cores_is_the_one_that_is_local_to_all_of_them) {
  const std::string machine = "package:2 numa:2 core:2 pu:2";
  EXPECT_EQ(numa_node_of(std::array{0}, machine), 0);
  EXPECT_EQ(numa_node_of(std::array{4, 5, 6, 7}, machine), 1);
  EXPECT_EQ(numa_node_of(std::array{15}, machine), 3);
}

TEST(numa_node, of_cores_of_several_is_none) {
  EXPECT_EQ(numa_node_of(std::array{3, 4}, "package:2 numa:2 core:2 pu:2"), std::nullopt);
  EXPECT_EQ(numa_node_of(std::array{0, 99}, "numa:2 core:2 pu:1"), std::nullopt);  // 99 does not exist
}

TEST(numa_node, is_none_where_there_is_no_other) {
  EXPECT_EQ(numa_node_of(std::array{0, 1}, "numa:1 core:4 pu:1"), std::nullopt);
}

TEST(numa_node, memory_for_it_can_be_written) {
  std::vector<std::byte> memory(std::size_t{1} << 16U);
  (void)keep_on_numa_node(memory, 0);  // a container may refuse
  std::ranges::fill(memory, std::byte{1});
  EXPECT_EQ(memory.back(), std::byte{1});
}

}  // namespace
}  // namespace lull
