#include "base/ticks.hpp"

#include <gtest/gtest.h>

namespace lull {
namespace {

TEST(ticks, are_none_since_a_time_that_lies_ahead) {
  EXPECT_EQ(ticks_since(ticks() + (std::uint64_t{1} << 40U)), 0U);
  EXPECT_GE(ticks_since(ticks() - 1000), 1000U);
}

}  // namespace
}  // namespace lull
