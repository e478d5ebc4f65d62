// What sleepers wait for, as visible to others.
#include "wait/public_waits.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace lull::wait {
namespace {

constexpr std::size_t unit = awaited_range::unit_bytes;

TEST(awaited_range, overlaps_what_lies_in_a_unit_with_it) {
  const awaited_range flag(10 * unit + 8, 8);
  EXPECT_TRUE(flag.overlaps({10 * unit + 8, 8}));
  EXPECT_TRUE(flag.overlaps({0, 11 * unit}));
  EXPECT_FALSE(flag.overlaps({0, 10 * unit}));
  EXPECT_FALSE(flag.overlaps({11 * unit, unit}));
  EXPECT_FALSE(flag.overlaps({}));
  EXPECT_FALSE(awaited_range{}.overlaps(flag));
}

TEST(awaited_range, of_the_first_byte_is_not_nobody) { EXPECT_FALSE(awaited_range(0, 1).none()); }

TEST(awaited_range, beyond_all_units_still_overlaps) {
  EXPECT_TRUE(awaited_range(std::size_t{1} << 50U, 8).overlaps({std::size_t{1} << 51U, 8}));
}

class public_waits_of_a_memory : public testing::Test {
 protected:
  [[nodiscard]] bool woken_by(std::size_t offset, std::size_t bytes) const {
    return awaited_range(offset, bytes).overlaps(awaited_range(word));
  }
  std::vector<std::byte> memory = std::vector<std::byte>(100 * unit);
  std::uint64_t word = 0;
  public_waits waits{word, memory};
};

TEST_F(public_waits_of_a_memory, say_what_is_waited_for_while_it_is) {
  {
    const public_waits::sleeper one(&waits, std::span(memory).subspan(10 * unit, 8));
    EXPECT_TRUE(woken_by(10 * unit, 4));
    EXPECT_FALSE(woken_by(0, 10 * unit));
  }
  EXPECT_EQ(word, 0U);
}

TEST_F(public_waits_of_a_memory, cover_all_sleepers_in_any_order) {
  const public_waits::sleeper one(&waits, std::span(memory).subspan(10 * unit, 8));
  {
    const public_waits::sleeper two(&waits, std::span(memory).subspan(50 * unit, 8));
    EXPECT_TRUE(woken_by(10 * unit, 8) && woken_by(50 * unit, 8));
  }
  EXPECT_TRUE(woken_by(10 * unit, 8));
  EXPECT_FALSE(woken_by(50 * unit, 8));
}

TEST_F(public_waits_of_a_memory, are_of_all_of_it_where_nobody_can_tell) {
  const public_waits::sleeper one(&waits, {});
  EXPECT_TRUE(woken_by(0, 1) && woken_by(99 * unit, 1));
}

TEST_F(public_waits_of_a_memory, of_other_memory_are_not_told) {
  const std::vector<std::byte> elsewhere(8);
  const public_waits::sleeper one(&waits, elsewhere), two(nullptr, memory);
  EXPECT_EQ(word, 0U);
}

}  // namespace
}  // namespace lull::wait
