#include "job/segment.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.hpp"
#include "base/pages.hpp"

namespace lull::job {
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

TEST(segment, a_file_that_is_too_short_is_not_mapped) {
  segment s;
  const mapping own = s.map_own(4096);
  EXPECT_THROW((void)map_peer(s.name(), 8192), error);
  EXPECT_TRUE(open_peer(s.name(), 4096));
}

TEST(segment, its_size_need_not_be_one_of_pages) {
  segment s;
  const mapping own = s.map_own(page_size() + 100);
  EXPECT_EQ(own.size(), page_size() + 100);
  own.data()[page_size() + 99] = std::byte{7};
}

TEST(segment, what_lies_behind_its_end_is_nobodys) {
  segment s;
  const std::size_t bytes = 4 * page_size();
  const mapping own = s.map_own(bytes, page_size(), std::size_t{1} << 20U);
  const mapping peer = map_peer(s.name(), bytes);
  EXPECT_DEATH(own.data()[bytes] = std::byte{1}, "");
  EXPECT_DEATH(peer.data()[bytes] = std::byte{1}, "");
}

TEST(segment, what_is_cut_off_is_nobodys_either) {
  segment s;
  mapping own = s.map_own(4 * page_size());
  own.shrink(2 * page_size());
  own.data()[2 * page_size() - 1] = std::byte{1};
  EXPECT_EQ(own.size(), 2 * page_size());
  EXPECT_DEATH(own.data()[2 * page_size()] = std::byte{1}, "");
}

}  // namespace
}  // namespace lull::job
