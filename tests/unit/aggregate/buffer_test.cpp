// Packed items unpack to the same bytes, and take as few bytes as possible.
#include "aggregate/channels/buffer.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace lull::aggregate {
namespace {

TEST(buffer, bytes_that_are_zero_in_all_items_do_not_travel) {
  std::vector<std::uint64_t> indices{1, 300, 70'000};
  auto* const bytes = reinterpret_cast<std::byte*>(indices.data());
  const packed left = pack(bytes, indices.size(), 8);
  EXPECT_EQ(left.bytes, 9U);
  EXPECT_EQ(left.kept, 0b111U);
  std::vector<std::uint64_t> again(3, ~std::uint64_t{0});
  unpack(reinterpret_cast<std::byte*>(again.data()), bytes, 3, 8, left.kept);
  EXPECT_EQ(again, (std::vector<std::uint64_t>{1, 300, 70'000}));
}

TEST(buffer, any_items_survive) {
  std::mt19937 random(1);
  for (std::size_t stride = 1; stride < 80; ++stride) {
    const std::size_t count = random() % 50;
    std::vector<std::byte> items(count * stride), again(count * stride);
    for (std::size_t i = 0; i < items.size(); ++i)
      if (i % stride % 3 != 0) items[i] = static_cast<std::byte>(random());
    std::vector<std::byte> travelling = items;
    const packed left = pack(travelling.data(), count, stride);
    if (left.kept == keeps_all)
      again = travelling;
    else
      unpack(again.data(), travelling.data(), count, stride, left.kept);
    EXPECT_EQ(again, items) << stride;
  }
}

}  // namespace
}  // namespace lull::aggregate
