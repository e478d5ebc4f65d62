// The library reads items that templates write, and vice versa: with and without address, of one size and of any size.
#include "lull/detail/items.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace lull::detail {

// Replaces an aggregation: counts the calls of make_room, and provides its own buffer.
struct two_items_at_a_time {
  std::array<std::byte, 64> memory{};
  cursor at;
  std::array<cursor*, 8> entry{&at, &at, &at, &at, &at, &at, &at, &at};  // the same for all PEs
  std::size_t asked = 0, bytes = 32;
};
void make_room(two_items_at_a_time* to, int /*pe*/, std::size_t /*item_bytes*/) {
  ++to->asked;
  to->at = {to->memory.data(), to->memory.data() + to->bytes};
}

namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <bool Addressed>
void expect_items_of_one_size_survive() {
  const item_format format(sizeof(std::uint64_t), Addressed, false);
  two_items_at_a_time to;
  to.bytes = 2 * format.stride;
  item_writer<two_items_at_a_time> writer(&to, to.entry.data(), Addressed);
  writer.push(std::uint64_t{70'000}, 5);
  writer.push(std::uint64_t{80'000}, 6);
  EXPECT_EQ(to.asked, 1U);
  const std::byte* const second = to.memory.data() + format.size_of(to.memory.data());
  EXPECT_EQ(read<std::uint64_t>(format.payload(second).data()), 80'000U);
  if (Addressed) {
    EXPECT_EQ(item_format::address_of(second), 6U);
  }
  std::vector<std::uint64_t> got;
  item_codec<Addressed>::template each<std::uint64_t>({to.memory.data(), 2, 0},
                                                      [&](std::uint64_t item) { got.push_back(item); });
  EXPECT_EQ(got, (std::vector<std::uint64_t>{70'000, 80'000}));
  EXPECT_EQ(item_codec<Addressed>::template get<std::uint64_t>(to.memory.data(), 1), 80'000U);
  writer.push(std::uint64_t{1}, 5);
  EXPECT_EQ(to.asked, 2U) << "the buffer was full";
}

template <bool Addressed>
void expect_items_of_any_size_survive() {
  const item_format format(0, Addressed, false);
  std::array<std::byte, 64> memory{};
  std::byte* to = memory.data();
  for (const std::string text : {"abc", "", "lull"}) {
    std::byte* const payload = format.begin(to, 9, text.size());
    std::copy_n(bytes_of(text).data(), text.size(), payload);
    EXPECT_EQ(format.size_of(to), format.head + text.size());
    EXPECT_EQ(text_of(format.payload(to)), text);
    to += format.size_of(to);
  }
  const auto bytes = static_cast<std::size_t>(to - memory.data());
  std::string all;
  item_codec<Addressed>::each_of_any_size({memory.data(), bytes, 0},
                                          [&](std::span<const std::byte> item) { all += text_of(item) + ";"; });
  EXPECT_EQ(all, "abc;;lull;");
  EXPECT_EQ(format.fitting({memory.data(), bytes}, bytes - 1), 2 * format.head + 3) << "whole items only";
}

TEST(items, of_one_size_survive_without_address) { expect_items_of_one_size_survive<false>(); }
TEST(items, of_one_size_survive_with_address) { expect_items_of_one_size_survive<true>(); }
TEST(items, of_any_size_survive_without_address) { expect_items_of_any_size_survive<false>(); }
TEST(items, of_any_size_survive_with_address) { expect_items_of_any_size_survive<true>(); }

TEST(items, of_any_size_written_by_a_template_are_read_by_the_library) {
  two_items_at_a_time to;
  item_writer<two_items_at_a_time> writer(&to, to.entry.data(), true);
  const std::string text = "wire";
  writer.push_bytes(text.size(), 3, [&](std::byte* at) { std::copy_n(bytes_of(text).data(), text.size(), at); });
  EXPECT_EQ(to.asked, 1U);
  const item_format format(0, true, false);
  EXPECT_EQ(item_format::address_of(to.memory.data()), 3U);
  EXPECT_EQ(text_of(format.payload(to.memory.data())), text);
  EXPECT_EQ(to.at.next, to.memory.data() + format.size_of(to.memory.data()));
}

TEST(items, a_run_fills_buffer_after_buffer) {
  two_items_at_a_time to;
  to.bytes = 2 * sizeof(std::uint64_t);
  item_writer<two_items_at_a_time> writer(&to, to.entry.data(), false);
  writer.push_run<std::uint64_t>(5, 0, [](std::size_t i) { return std::uint64_t{i}; });
  EXPECT_EQ(to.asked, 3U);
  EXPECT_EQ(read<std::uint64_t>(to.memory.data()), 4U);
}

}  // namespace
}  // namespace lull::detail
