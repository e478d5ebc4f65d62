#include "mpi/waiting/rare_event.hpp"

#include <gtest/gtest.h>

namespace lull::mpi {
namespace {

TEST(rare_event, is_no_longer_rare_after_the_allowed_times) {
  rare_event<3, 16> event;
  for (int i = 0; i < 3; ++i) event.occurred(true);
  EXPECT_TRUE(event.is_rare());
  event.occurred(true);
  EXPECT_FALSE(event.is_rare());
}

TEST(rare_event, may_occur_once_more_for_so_many_opposites) {
  rare_event<3, 16> event;
  for (int i = 0; i < 15; ++i) event.occurred(false);
  for (int i = 0; i < 4; ++i) event.occurred(true);
  EXPECT_FALSE(event.is_rare());
  event.occurred(false);
  EXPECT_TRUE(event.is_rare());
}

}  // namespace
}  // namespace lull::mpi
