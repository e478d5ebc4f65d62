// A line is asked for once in an epoch, all that wait for it get their words, and lines are given up where they lose.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "lull/aggregate_cache.hpp"

namespace lull::detail {
namespace {

using outcome = line_cache::outcome;
constexpr std::size_t line_bytes = 64;
constexpr std::size_t one_line = line_cache::bytes_of_line(line_bytes);
constexpr double never_words = 1;

void fill(line_cache& cache, std::uint32_t entry, std::byte with, std::map<std::uint32_t, std::uint32_t>& delivered) {
  const std::vector<std::byte> line(line_bytes, with);
  cache.fill(entry, line, [&](std::uint32_t where, std::uint32_t word) { delivered[where] = word; });
}

TEST(line_cache, a_line_under_way_is_asked_for_once_and_delivered_to_all_that_wait) {
  line_cache cache(100 * one_line, line_bytes, never_words);
  const auto first = cache.look_up(7, 0, 10, 3);
  EXPECT_EQ(first.what, outcome::ask_line);
  EXPECT_EQ(cache.look_up(7, 0, 11, 4).what, outcome::waits);
  EXPECT_EQ(cache.look_up(7, 0, 12, 3).what, outcome::waits);
  std::map<std::uint32_t, std::uint32_t> delivered;
  fill(cache, first.entry, std::byte{1}, delivered);
  EXPECT_EQ(delivered, (std::map<std::uint32_t, std::uint32_t>{{10, 3}, {11, 4}, {12, 3}}));
  const auto later = cache.look_up(7, 0, 13, 0);
  ASSERT_EQ(later.what, outcome::here);
  EXPECT_EQ(*later.line, std::byte{1});
  EXPECT_EQ(cache.hits(), 3U);
  EXPECT_EQ(cache.misses(), 1U);
}

TEST(line_cache, what_is_there_is_forgotten_with_its_epoch) {
  line_cache cache(one_line, line_bytes, never_words);
  std::map<std::uint32_t, std::uint32_t> delivered;
  fill(cache, cache.look_up(7, 0, 1, 0).entry, std::byte{1}, delivered);
  EXPECT_EQ(cache.look_up(7, 1, 2, 0).what, outcome::ask_line);
}

TEST(line_cache, a_line_asked_for_in_an_earlier_epoch_is_not_waited_for) {
  line_cache cache(one_line, line_bytes, never_words);
  const auto first = cache.look_up(7, 0, 1, 0);
  EXPECT_EQ(cache.look_up(7, 1, 2, 0).what, outcome::ask_word);
  std::map<std::uint32_t, std::uint32_t> delivered;
  fill(cache, first.entry, std::byte{1}, delivered);
  EXPECT_EQ(delivered.size(), 1U);
  EXPECT_EQ(cache.look_up(7, 1, 3, 0).what, outcome::ask_line);
}

TEST(line_cache, another_line_takes_the_place_only_of_one_that_has_come) {
  line_cache cache(one_line, line_bytes, never_words);
  const auto first = cache.look_up(7, 0, 1, 0);
  EXPECT_EQ(cache.look_up(8, 0, 2, 0).what, outcome::ask_word);
  std::map<std::uint32_t, std::uint32_t> delivered;
  fill(cache, first.entry, std::byte{1}, delivered);
  EXPECT_EQ(cache.look_up(8, 0, 3, 0).what, outcome::ask_line);
}

TEST(line_cache, without_a_place_to_wait_a_word_is_asked_for) {
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

TEST(line_cache, words_are_asked_for_where_lines_lose_and_lines_again_where_they_win) {
  line_cache cache(64 * one_line, line_bytes, 20.0 / 76);
  std::mt19937 random(1);
  std::map<std::uint32_t, std::uint32_t> delivered;
  const auto get = [&](std::uint64_t line) {
    const auto found = cache.look_up(line, 0, 0, 0);
    if (found.what == outcome::ask_line) fill(cache, found.entry, std::byte{1}, delivered);
    return found.what;
  };
  for (int i = 0; i < 5000; ++i) get(random() % 1'000'000);
  EXPECT_FALSE(cache.asks_for_lines());
  EXPECT_EQ(get(2'000'000), outcome::ask_word);
  for (std::uint64_t i = 0; i < 10'000; ++i) get(3'000'000 + i / 8);  // eight words of a line, one behind the other
  EXPECT_TRUE(cache.asks_for_lines());
  const std::uint64_t hits = cache.hits();
  for (std::uint64_t i = 0; i < 800; ++i) get(4'000'000 + i / 8);
  EXPECT_EQ(cache.hits() - hits, 700U);
}

TEST(line_cache, between_the_two_limits_nothing_changes) {
  line_cache cache(64 * one_line, line_bytes, 0.5);
  std::map<std::uint32_t, std::uint32_t> delivered;
  const auto gets = [&](int count, int share_of_misses) {  // in a hundred
    static std::uint64_t fresh = 1000;
    for (int i = 0; i < count; ++i) {
      const auto found = cache.look_up(i % 100 < share_of_misses ? ++fresh : 1, 0, 0, 0);
      if (found.what == outcome::ask_line) fill(cache, found.entry, std::byte{1}, delivered);
    }
  };
  gets(10'000, 55);  // and some more, where a fresh line takes the place of line 1
  EXPECT_TRUE(cache.asks_for_lines());
  gets(10'000, 90);
  EXPECT_FALSE(cache.asks_for_lines());
  gets(10'000, 45);
  EXPECT_FALSE(cache.asks_for_lines());
  gets(10'000, 20);
  EXPECT_TRUE(cache.asks_for_lines());
}

}  // namespace
}  // namespace lull::detail
