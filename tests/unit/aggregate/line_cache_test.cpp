// A line is fetched once per epoch, every get that waits for it is delivered, and words are fetched where lines cost
// more.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "lull/detail/line_cache.hpp"

namespace lull::detail {
namespace {

using outcome = line_cache::outcome;
constexpr std::size_t line_bytes = 64;
constexpr std::size_t one_line = line_cache::bytes_of_line(line_bytes);
constexpr double never_words = 1;

void fill(line_cache& cache, std::uint32_t entry, std::byte with, std::map<std::uint32_t, std::uint32_t>& delivered) {
  const std::vector<std::byte> line(line_bytes, with);
  cache.fill(entry, line, [&](std::uint32_t index, std::uint32_t word) { delivered[index] = word; });
}

TEST(line_cache, a_line_is_fetched_once_and_delivered_to_all_gets_that_wait) {
  line_cache cache(100 * one_line, line_bytes, never_words);
  const auto first = cache.look_up(7, 0, 10, 3);
  EXPECT_EQ(first.what, outcome::fetch_line);
  EXPECT_EQ(cache.look_up(7, 0, 11, 4).what, outcome::waits);
  EXPECT_EQ(cache.look_up(7, 0, 12, 3).what, outcome::waits);
  std::map<std::uint32_t, std::uint32_t> delivered;
  fill(cache, first.entry, std::byte{1}, delivered);
  EXPECT_EQ(delivered, (std::map<std::uint32_t, std::uint32_t>{{10, 3}, {11, 4}, {12, 3}}));
  const auto later = cache.look_up(7, 0, 13, 0);
  ASSERT_EQ(later.what, outcome::hit);
  EXPECT_EQ(*later.line, std::byte{1});
  EXPECT_EQ(cache.hits(), 3U);
  EXPECT_EQ(cache.misses(), 1U);
}

TEST(line_cache, lines_are_dropped_when_their_epoch_ends) {
  line_cache cache(one_line, line_bytes, never_words);
  std::map<std::uint32_t, std::uint32_t> delivered;
  fill(cache, cache.look_up(7, 0, 1, 0).entry, std::byte{1}, delivered);
  EXPECT_EQ(cache.look_up(7, 1, 2, 0).what, outcome::fetch_line);
}

TEST(line_cache, no_get_waits_for_a_line_of_an_earlier_epoch) {
  line_cache cache(one_line, line_bytes, never_words);
  const auto first = cache.look_up(7, 0, 1, 0);
  EXPECT_EQ(cache.look_up(7, 1, 2, 0).what, outcome::fetch_word);
  std::map<std::uint32_t, std::uint32_t> delivered;
  fill(cache, first.entry, std::byte{1}, delivered);
  EXPECT_EQ(delivered.size(), 1U);
  EXPECT_EQ(cache.look_up(7, 1, 3, 0).what, outcome::fetch_line);
}

TEST(line_cache, a_line_in_flight_keeps_its_entry) {
  line_cache cache(one_line, line_bytes, never_words);
  const auto first = cache.look_up(7, 0, 1, 0);
  EXPECT_EQ(cache.look_up(8, 0, 2, 0).what, outcome::fetch_word);
  std::map<std::uint32_t, std::uint32_t> delivered;
  fill(cache, first.entry, std::byte{1}, delivered);
  EXPECT_EQ(cache.look_up(8, 0, 3, 0).what, outcome::fetch_line);
}

TEST(line_cache, a_get_fetches_its_word_when_no_waiter_is_free) {
  line_cache cache(one_line, line_bytes, never_words);
  const auto first = cache.look_up(7, 0, 0, 0);
  std::uint32_t waiting = 1;
  while (cache.look_up(7, 0, waiting, 0).what == outcome::waits) ++waiting;
  EXPECT_LT(waiting, 20U);
  std::map<std::uint32_t, std::uint32_t> delivered;
  fill(cache, first.entry, std::byte{1}, delivered);
  EXPECT_EQ(delivered.size(), waiting);
}

TEST(line_cache, memory_is_bounded_and_may_be_too_little_for_any_line) {
  EXPECT_TRUE(line_cache(one_line - 1, line_bytes, never_words).empty());
  EXPECT_TRUE(line_cache(0, line_bytes, never_words).empty());
  const line_cache cache(1U << 20U, line_bytes, never_words);
  EXPECT_LE(cache.bytes(), 1U << 20U);
  EXPECT_GT(cache.bytes(), (1U << 20U) - one_line);
}

TEST(line_cache, words_are_fetched_where_lines_cost_more_and_lines_where_they_cost_less) {
  line_cache cache(64 * one_line, line_bytes, 20.0 / 76);
  std::mt19937 random(1);
  std::map<std::uint32_t, std::uint32_t> delivered;
  const auto get = [&](std::uint64_t line) {
    const auto found = cache.look_up(line, 0, 0, 0);
    if (found.what == outcome::fetch_line) fill(cache, found.entry, std::byte{1}, delivered);
    return found.what;
  };
  for (int i = 0; i < 5000; ++i) get(random() % 1'000'000);
  EXPECT_FALSE(cache.fetches_lines());
  EXPECT_EQ(get(2'000'000), outcome::fetch_word);
  for (std::uint64_t i = 0; i < 10'000; ++i) get(3'000'000 + i / 8);  // eight consecutive words of a line
  EXPECT_TRUE(cache.fetches_lines());
  const std::uint64_t hits = cache.hits();
  for (std::uint64_t i = 0; i < 800; ++i) get(4'000'000 + i / 8);
  EXPECT_EQ(cache.hits() - hits, 700U);
}

TEST(line_cache, between_the_two_limits_nothing_changes) {
  line_cache cache(64 * one_line, line_bytes, 0.5);
  std::map<std::uint32_t, std::uint32_t> delivered;
  const auto gets = [&](int count, int share_of_misses) {  // in percent
    static std::uint64_t fresh = 1000;
    for (int i = 0; i < count; ++i) {
      const auto found = cache.look_up(i % 100 < share_of_misses ? ++fresh : 1, 0, 0, 0);
      if (found.what == outcome::fetch_line) fill(cache, found.entry, std::byte{1}, delivered);
    }
  };
  gets(10'000, 55);  // slightly more, because a new line replaces line 1
  EXPECT_TRUE(cache.fetches_lines());
  gets(10'000, 90);
  EXPECT_FALSE(cache.fetches_lines());
  gets(10'000, 45);
  EXPECT_FALSE(cache.fetches_lines());
  gets(10'000, 20);
  EXPECT_TRUE(cache.fetches_lines());
}

}  // namespace
}  // namespace lull::detail
