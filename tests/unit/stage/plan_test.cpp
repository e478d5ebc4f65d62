#include "stage/accounts/plan.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "surroundings.hpp"

namespace lull::stage {
namespace {

using plan_test = settings_by_default;

TEST_F(plan_test, unset_means_time_partitioning) {
  const plan wanted = plan_of_settings();
  EXPECT_EQ(wanted.how, approach::time_partitioning);
  EXPECT_EQ(name_of(wanted), "time-partitioning");
  EXPECT_TRUE(wanted.sync);
}

TEST_F(plan_test, the_count_of_servers_is_part_of_the_approach) {
  set("LULL_STAGE", "dedicated-cores=2");
  set("LULL_STAGE_BUFFER", "256M");
  set("LULL_STAGE_WHEN_FULL", "drop");
  const plan wanted = plan_of_settings();
  EXPECT_EQ(wanted.how, approach::dedicated_cores);
  EXPECT_EQ(wanted.count, 2);
  EXPECT_EQ(wanted.buffer_bytes, std::size_t{256} << 20U);
  EXPECT_EQ(wanted.policy, when_full::drop);
  EXPECT_EQ(name_of(wanted), "dedicated-cores=2");
  set("LULL_STAGE", "dedicated-nodes");
  EXPECT_EQ(name_of(plan_of_settings()), "dedicated-nodes=1");
}

TEST_F(plan_test, auto_leaves_the_approach_to_the_model) {
  set("LULL_STAGE", "auto");
  const plan wanted = plan_of_settings();
  EXPECT_TRUE(wanted.by_model);
  EXPECT_EQ(wanted.policy, when_full::cheapest);
  set("LULL_STAGE_WHEN_FULL", "wait");
  set("LULL_STAGE_OBJECTIVE", "energy");
  EXPECT_EQ(plan_of_settings().policy, when_full::wait);
  EXPECT_EQ(plan_of_settings().objective, model::output_objective::energy);
}

TEST_F(plan_test, what_cannot_be_meant_is_refused) {
  for (const char* text : {"dedicated", "dedicated-cores=0", "dedicated-cores=", "dedicated-cores=-1",
                           "dedicated-cores=2x", "auto=1", "time-partitioning=1", "=1"}) {
    set("LULL_STAGE", text);
    EXPECT_THROW((void)plan_of_settings(), usage_error) << text;
  }
}

}  // namespace
}  // namespace lull::stage
