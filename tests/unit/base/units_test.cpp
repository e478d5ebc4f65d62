#include "base/units.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace lull {
namespace {

template <class A, class B>
concept addable = requires(A a, B b) {
  a + b;
};

TEST(units, watts_times_seconds_are_joules) {
  EXPECT_DOUBLE_EQ((watts{60} * seconds{2.5}).value(), 150);
  EXPECT_DOUBLE_EQ((joules{150} / seconds{2.5}).value(), 60);
}

TEST(units, different_units_and_identities_do_not_mix) {
  static_assert(addable<joules, joules> && !addable<joules, watts> && !addable<joules, double>);
  static_assert(!std::is_convertible_v<pe_id, node_id> && !std::is_convertible_v<int, pe_id>);
}

}  // namespace
}  // namespace lull
