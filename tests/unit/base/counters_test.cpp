#include "base/counters.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace lull {
namespace {

struct files {
  std::uint64_t count = 0, bytes = 0;
};

struct largest {
  int value = 0;
  largest& operator+=(const largest& other) {
    if (other.value > value) value = other.value;
    return *this;
  }
};

struct several {
  int processes = 0;
  double seconds = 0;
  files written;
  std::array<files, 2> by_room{};
  largest depth;
  several& operator+=(const several& other) { return add_fields(*this, other); }
};

struct one_field {
  int only = 0;
};
struct twelve_fields {
  int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12;
};

static_assert(number_of_fields<one_field> == 1);
static_assert(number_of_fields<files> == 2);
static_assert(number_of_fields<several> == 5);
static_assert(number_of_fields<twelve_fields> == 12);

TEST(counters, are_added_field_by_field_also_in_arrays_and_structs) {
  several sum{.processes = 1, .seconds = 0.5, .written = {1, 10}, .by_room = {{{1, 2}, {3, 4}}}, .depth = {3}};
  sum += {.processes = 2, .seconds = 0.25, .written = {2, 20}, .by_room = {{{10, 20}, {30, 40}}}, .depth = {2}};
  EXPECT_EQ(sum.processes, 3);
  EXPECT_EQ(sum.seconds, 0.75);
  EXPECT_EQ(sum.written.count, 3U);
  EXPECT_EQ(sum.written.bytes, 30U);
  EXPECT_EQ(sum.by_room[0].count, 11U);
  EXPECT_EQ(sum.by_room[1].bytes, 44U);
}

TEST(counters, are_added_by_their_own_operator_where_they_have_one) {
  several sum{.processes = 0, .seconds = 0, .written = {}, .by_room = {}, .depth = {3}};
  sum += {.processes = 0, .seconds = 0, .written = {}, .by_room = {}, .depth = {2}};
  EXPECT_EQ(sum.depth.value, 3);
}

TEST(counters, are_found_in_their_order) {
  const twelve_fields all;
  const auto fields = fields_of(all);
  EXPECT_EQ(std::get<0>(fields), 1);
  EXPECT_EQ(std::get<11>(fields), 12);
}

}  // namespace
}  // namespace lull
