// Records that are identified by number and reused.
#include <gtest/gtest.h>

#include <vector>

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

}  // namespace
}  // namespace lull::netsim
