#include "fabric/segment.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.hpp"

namespace lull::fabric {
namespace {

TEST(segment, a_peer_sees_what_the_owner_writes) {
  segment s;
  const mapping own = s.map_own(8192);
  const mapping peer = map_peer(s.name(), 8192);
  std::strcpy(reinterpret_cast<char*>(own.data()) + 4096, "hello");
  EXPECT_STREQ(reinterpret_cast<const char*>(peer.data()) + 4096, "hello");
}

TEST(segment, memory_stays_when_the_descriptor_is_closed) {
  segment s;
  const mapping own = s.map_own(4096);
  s.close();
  own.data()[100] = std::byte{42};
  EXPECT_EQ(own.data()[100], std::byte{42});
}

TEST(segment, another_process_under_the_same_id_is_noticed) {
  segment s;
  const mapping own = s.map_own(4096);
  segment_name impostor = s.name();
  impostor.nonce ^= 1;
  EXPECT_THROW((void)map_peer(impostor, 4096), error);
  impostor.pid = 1 << 22;
  EXPECT_THROW((void)map_peer(impostor, 4096), error);
}

}  // namespace
}  // namespace lull::fabric
