#include "wait/relax.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"

namespace lull::wait {
namespace {

TEST(spin_rest, there_is_always_one) { EXPECT_TRUE(best_spin_rest().supported()); }

// Those that this processor lacks cannot be tried: they are illegal instructions here.
TEST(spin_rest, every_supported_one_comes_back_within_microseconds) {
  for (const spin_rest& r : spin_rests()) {
    if (!r.supported()) continue;
    constexpr int rounds = 1000;
    const std::int64_t begin = now_ns();
    for (int i = 0; i < rounds; ++i) r.rest();
    EXPECT_LT((now_ns() - begin) / rounds, 20'000) << r.name;
  }
}

}  // namespace
}  // namespace lull::wait
