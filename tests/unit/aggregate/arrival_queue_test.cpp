// Items come out in the order in which they went in, within the given memory.
#include "aggregate/api/arrival_queue.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace lull::aggregate {
namespace {

std::vector<std::byte> bytes_of(std::size_t size, unsigned char with) { return {size, static_cast<std::byte>(with)}; }

TEST(arrival_queue, items_of_any_size_come_out_in_their_order_with_their_senders) {
  arrival_queue queue(1000, 100);
  std::mt19937 random(1);
  std::deque<std::pair<int, std::vector<std::byte>>> expected;
  for (int i = 0; i < 10'000; ++i) {
    const auto item = bytes_of(random() % 100, static_cast<unsigned char>(i));
    if (queue.add(i, item)) expected.emplace_back(i, item);
    if (random() % 2 == 0) continue;
    const auto got = queue.next();
    ASSERT_EQ(got.has_value(), !expected.empty());
    if (!got) continue;
    EXPECT_EQ(got->from, expected.front().first);
    EXPECT_TRUE(
        std::equal(got->item.begin(), got->item.end(), expected.front().second.begin(), expected.front().second.end()));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(got->item.data()) % 8, 0U);
    expected.pop_front();
  }
}

TEST(arrival_queue, one_item_always_fits_and_what_does_not_is_refused) {
  arrival_queue queue(1, 40);
  EXPECT_TRUE(queue.add(0, bytes_of(40, 1)));
  EXPECT_FALSE(queue.add(0, bytes_of(1, 2)));
  EXPECT_EQ(queue.memory(), 48U);
  EXPECT_TRUE(queue.next());
  EXPECT_TRUE(queue.empty());
}

TEST(arrival_queue, the_item_pulled_last_stays_until_it_is_released) {
  arrival_queue queue(1, 40);
  queue.add(0, bytes_of(40, 1));
  const auto got = queue.next();
  EXPECT_FALSE(queue.add(0, bytes_of(40, 2)));
  EXPECT_EQ(got->item.front(), std::byte{1});
  queue.release();
  EXPECT_TRUE(queue.add(0, bytes_of(40, 2)));
}

TEST(arrival_queue, an_item_may_be_given_back_once) {
  arrival_queue queue(200, 8);
  queue.add(3, bytes_of(8, 1));
  queue.add(4, bytes_of(8, 2));
  EXPECT_FALSE(queue.give_back());
  EXPECT_EQ(queue.next()->from, 3);
  EXPECT_TRUE(queue.give_back());
  EXPECT_FALSE(queue.give_back());
  EXPECT_EQ(queue.next()->from, 3);
  EXPECT_EQ(queue.next()->from, 4);
  EXPECT_FALSE(queue.next());
}

}  // namespace
}  // namespace lull::aggregate
