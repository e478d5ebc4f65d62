#include "aggregate/channels/channel_word.hpp"

#include <gtest/gtest.h>

namespace lull::aggregate {
namespace {

TEST(channel_word, keeps_numbers_that_outgrow_it) {
  constexpr std::uint64_t wraps = std::uint64_t{1} << 32U;
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{7}, wraps - 1, wraps, wraps + 1, 5 * wraps - 1, 5 * wraps})
    for (const std::uint64_t ahead : {0U, 1U, 3U}) {
      const std::uint64_t word = channel_word(number + ahead, 100);
      EXPECT_EQ(bytes_in(word), 100U);
      EXPECT_EQ(buffer_in(word, number), number + ahead);
      EXPECT_EQ(buffer_in(channel_word(number, 100), number + ahead), number);  // closed and consumed in between
    }
}

}  // namespace
}  // namespace lull::aggregate
