// Records that are identified by number and reused.
#include <gtest/gtest.h>

#include <vector>

#include "netsim/network/message_store.hpp"
#include "netsim/network/network_state.hpp"

namespace lull::netsim {
namespace {

TEST(Pool, RecordsAreFreshWhenTakenAgain) {
  pool<packet> packets;
  const std::uint32_t first = packets.take();
  packets[first].bytes = 7;
  packets.put_back(first);
  EXPECT_EQ(packets.used(), 0U);
  const std::uint32_t again = packets.take();
  EXPECT_EQ(packets[again].bytes, 0);
  EXPECT_NE(packets.take(), again);
  EXPECT_EQ(packets.used(), 2U);
}

TEST(Pool, WhenAllWereFreeThoseTakenInARowLieSideBySide) {
  pool<packet> packets;
  std::vector<std::uint32_t> taken(100);
  for (std::uint32_t& number : taken) number = packets.take();
  for (std::uint32_t i = 0; i < 100; ++i) packets.put_back(taken[i * 37 % 100]);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(packets.take(), i);
  EXPECT_EQ(packets.take(), 100U);
}

TEST(messages_of_part, are_adjacent_when_taken_after_all_were_free) {
  message_store store(1);
  messages_of_part messages(store, 0);
  constexpr std::uint32_t count = message_store::chunk_size + 100;  // in two chunks
  std::vector<std::uint32_t> taken(count);
  for (std::uint32_t& number : taken) {
    number = messages.take();
    messages[number].bytes = number;
  }
  for (const std::uint32_t number : taken) EXPECT_EQ(messages[number].bytes, number);
  for (std::uint32_t i = 0; i < count; ++i) messages.put_back(taken[std::uint64_t{i} * 37 % count]);
  for (std::uint32_t i = 0; i < count; ++i) EXPECT_EQ(messages.take(), i);
  EXPECT_EQ(messages.take(), count);
}

// A line of memory is written by one part alone at a time.
TEST(messages_of_part, of_two_parts_know_their_makers_and_share_no_line_of_memory) {
  message_store store(2);
  messages_of_part one(store, 0), other(store, 1);
  for (int i = 0; i < 10; ++i) {
    const std::uint32_t of_one = one.take();
    const std::uint32_t of_other = other.take();
    EXPECT_EQ(other.maker(of_one), 0U);
    EXPECT_EQ(one.maker(of_other), 1U);
    EXPECT_EQ(&one[of_other], &other[of_other]);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&one[of_one]) % 64, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&one[of_other]) % 64, 0U);
  }
}

TEST(full_counts, hold_what_a_link_sends_beyond_the_32_bits_of_its_port) {
  port busy, other;
  full_counts full;
  busy.packets = (std::uint32_t{1} << 31U) - 1;
  busy.wakes = 7;
  EXPECT_FALSE(full_counts::is_full(busy));
  for (int i = 0; i < 3; ++i) {
    busy.packets = std::uint32_t{1} << 31U;
    busy.wakes = busy.packets - 5;
    ASSERT_TRUE(full_counts::is_full(busy));
    full.add(3, busy);
    EXPECT_FALSE(full_counts::is_full(busy));
  }
  busy.packets = 10;
  busy.wakes = 1;
  other.packets = 2;
  EXPECT_EQ(full.of(3, busy).packets, (std::uint64_t{3} << 31U) + 10);
  EXPECT_EQ(full.of(3, busy).wakes, (std::uint64_t{3} << 31U) - 15 + 1);
  EXPECT_EQ(full.of(4, other).packets, 2U);
}

}  // namespace
}  // namespace lull::netsim
