#include "account/split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <random>

namespace lull::account {
namespace {

using parts = std::vector<std::int64_t>;

TEST(split, gives_what_rounding_left_to_the_largest_remainders) {
  EXPECT_EQ(split(10, parts{1, 1, 1}), (parts{4, 3, 3}));
  EXPECT_EQ(split(10, parts{1, 5, 1}), (parts{2, 7, 1}));  // 1.43, 7.14, 1.43: the first of equals
  EXPECT_EQ(split(100, parts{0, 1, 0}), (parts{0, 100, 0}));
}

TEST(split, gives_nothing_where_nothing_weighs) {
  EXPECT_EQ(split(10, parts{0, 0}), (parts{0, 0}));
  EXPECT_EQ(split(10, parts{}), parts{});
}

TEST(split, adds_up_for_weights_and_wholes_of_any_size) {
  std::mt19937_64 random(1);
  for (int n = 0; n < 10'000; ++n) {
    parts weights(1 + random() % 40);
    for (auto& w : weights) w = static_cast<std::int64_t>(random() >> (1 + random() % 63)) >> 7;  // 40 of them fit
    const auto whole = static_cast<std::int64_t>(random() >> (1 + random() % 63));
    const parts got = split(whole, weights);
    const auto positive = std::accumulate(weights.begin(), weights.end(), std::int64_t{0}) > 0;
    ASSERT_EQ(std::accumulate(got.begin(), got.end(), std::int64_t{0}), positive ? whole : 0);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_GE(got[i], 0);
      if (weights[i] == 0) {
        ASSERT_EQ(got[i], 0);
      }
    }
  }
}

}  // namespace
}  // namespace lull::account
