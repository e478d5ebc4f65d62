#include "mpi/waiting/loop_probe.hpp"

#include <gtest/gtest.h>

namespace lull::mpi {
namespace {

constexpr std::int64_t ms = 1'000'000;

TEST(loop_probe, eight_long_calls_without_beats_show_a_silent_loop_once) {
  loop_probe probe;
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(probe.is_silent_after("MPI_Recv", 8, 2 * ms, 9));
  EXPECT_TRUE(probe.is_silent_after("MPI_Bcast", 8, 2 * ms, 0));
  EXPECT_FALSE(probe.is_open());
  EXPECT_FALSE(probe.is_silent_after("MPI_Bcast", 8, 2 * ms, 0));
}

TEST(loop_probe, a_call_with_beats_ends_it) {
  loop_probe probe;
  EXPECT_FALSE(probe.is_silent_after("MPI_Recv", 8, ms / 10, 10));
  EXPECT_FALSE(probe.is_open());
}

TEST(loop_probe, calls_that_are_short_or_work_say_nothing) {
  loop_probe probe;
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(probe.is_silent_after("MPI_Recv", 8, ms / 2, 0));
    EXPECT_FALSE(probe.is_silent_after("MPI_Recv", 1U << 20U, 2 * ms, 0));
    EXPECT_FALSE(probe.is_silent_after("MPI_File_write_all", 8, 9 * ms, 0));
  }
  EXPECT_TRUE(probe.is_open());
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(probe.is_silent_after("MPI_Recv", 8, 0, 0));
  EXPECT_FALSE(probe.is_open());
}

}  // namespace
}  // namespace lull::mpi
