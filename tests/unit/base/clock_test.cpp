#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace lull {
namespace {

TEST(clock, has_whole_seconds_and_the_rest_in_a_timespec) {
  const timespec t = timespec_of(3'000'000'007);
  EXPECT_EQ(t.tv_sec, 3);
  EXPECT_EQ(t.tv_nsec, 7);
  EXPECT_EQ(ns_of(t), 3'000'000'007);
  EXPECT_EQ(ns_of(timespec_of(999'999'999)), 999'999'999);
}

TEST(clock, does_not_go_back) {
  const std::int64_t before = now_ns();
  EXPECT_GE(now_ns(), before);
  EXPECT_GT(process_cpu_ns(), 0);
  EXPECT_GT(thread_cpu_ns(), 0);
}

}  // namespace
}  // namespace lull
