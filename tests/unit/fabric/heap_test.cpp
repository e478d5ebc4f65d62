#include "fabric/memory/heap.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace lull::fabric {
namespace {

TEST(heap, an_exhausted_heap_gives_nothing_and_recovers) {
  heap h(1024);
  const auto a = h.allocate(512);
  const auto b = h.allocate(512);
  ASSERT_TRUE(a && b);
  EXPECT_FALSE(h.allocate(1));
  EXPECT_TRUE(h.release(*a));
  EXPECT_FALSE(h.allocate(513));
  EXPECT_TRUE(h.release(*b));
  EXPECT_EQ(h.allocate(1024), 0U);
}

TEST(heap, absurd_sizes_and_foreign_offsets_are_refused) {
  heap h(1 << 20);
  EXPECT_FALSE(h.allocate(~std::size_t{0}));
  EXPECT_FALSE(h.release(64));
  EXPECT_FALSE(h.size_of(64));
}

TEST(heap, alignment_holds) {
  heap h(1 << 20);
  (void)h.allocate(10);
  for (std::size_t alignment = 1; alignment <= 65536; alignment *= 2) {
    const auto offset = h.allocate(3, alignment);
    ASSERT_TRUE(offset);
    EXPECT_EQ(*offset % alignment, 0U);
  }
}

TEST(heap, random_use_never_overlaps_never_loses_and_is_the_same_for_every_pe) {
  constexpr std::size_t bytes = 1 << 16;
  heap one(bytes), two(bytes);
  std::map<std::size_t, std::size_t> live;
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    if (random() % 3 != 0 || live.empty()) {
      const std::size_t size = 1 + random() % 3000;
      const auto offset = one.allocate(size);
      ASSERT_EQ(two.allocate(size), offset);
      if (!offset) continue;
      ASSERT_LE(*offset + size, bytes);
      const auto next = live.lower_bound(*offset);
      if (next != live.end()) {
        ASSERT_LE(*offset + size, next->first);
      }
      if (next != live.begin()) {
        ASSERT_GE(*offset, std::prev(next)->first + std::prev(next)->second);
      }
      live[*offset] = size;
    } else {
      const auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
      ASSERT_TRUE(one.release(victim->first) && two.release(victim->first));
      live.erase(victim);
    }
  }
  for (const auto& [offset, size] : live) ASSERT_TRUE(one.release(offset));
  EXPECT_EQ(one.in_use(), 0U);
  EXPECT_EQ(one.allocate(bytes), 0U);
}

}  // namespace
}  // namespace lull::fabric
