// Counts of a long run: the product of bytes and items exceeds 64 bits.
#include <gtest/gtest.h>

#include <cstdint>

#include "lull/aggregate.hpp"

namespace lull {
namespace {

TEST(statistics, of_items_of_any_size_are_scaled_without_overflow) {
  constexpr std::uint64_t items = std::uint64_t{1} << 60U, bytes = 8 * items;  // pushed; 2^63 bytes
  EXPECT_EQ(detail::scaled(2 * bytes - 8, items, bytes), 2 * items - 1) << "two hops each, but for one item";
  EXPECT_EQ(detail::scaled(bytes, items, bytes), items);
  EXPECT_EQ(detail::scaled(UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(detail::scaled(10, 3, 7), 4U);
  EXPECT_EQ(detail::scaled(0, 3, 7), 0U);
}

}  // namespace
}  // namespace lull
