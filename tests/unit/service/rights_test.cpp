#include "service/rights.hpp"

#include <gtest/gtest.h>

namespace lull::service {
namespace {

const peer root{.uid = 0, .in_group = false}, admin{.uid = 9, .in_group = true}, alice{.uid = 1, .in_group = false},
    bob{.uid = 2, .in_group = false};
const policy usual{}, closed{.serves_counters = false, .scheduler_uid = 0},
    of_slurm{.serves_counters = true, .scheduler_uid = 7};

TEST(rights, counters_are_for_who_has_the_node_alone_and_for_administrators) {
  EXPECT_TRUE(may_read_counters(alice, usual, {1}).allowed);
  EXPECT_FALSE(may_read_counters(alice, usual, {}).allowed);
  EXPECT_FALSE(may_read_counters(alice, usual, {2}).allowed);
  EXPECT_FALSE(may_read_counters(alice, usual, {1, 2}).allowed);
  for (const peer& who : {root, admin}) {
    EXPECT_TRUE(may_read_counters(who, usual, {1, 2}).allowed);
    EXPECT_TRUE(may_read_counters(who, closed, {}).allowed);
  }
  EXPECT_FALSE(may_read_counters(alice, closed, {1}).allowed);
}

TEST(rights, a_share_is_its_owners_and_on_a_shared_node_known_at_the_end_only) {
  EXPECT_TRUE(may_see_share(alice, 1, {1}).allowed);
  EXPECT_FALSE(may_see_share(alice, 1, {1, 2}).allowed);
  EXPECT_FALSE(may_see_share(bob, 1, {1}).allowed);
  EXPECT_TRUE(may_see_share(admin, 1, {1, 2}).allowed);
}

TEST(rights, accounts_change_by_root_and_the_scheduler_and_not_by_administrators) {
  EXPECT_TRUE(may_change_accounts(root, usual).allowed);
  EXPECT_TRUE(may_change_accounts({.uid = 7, .in_group = false}, of_slurm).allowed);
  EXPECT_FALSE(may_change_accounts({.uid = 7, .in_group = false}, usual).allowed);
  EXPECT_FALSE(may_change_accounts(admin, of_slurm).allowed);
}

TEST(rights, a_refusal_has_a_reason) {
  EXPECT_EQ(may_read_counters(alice, usual, {1, 2}).reason, "2 users share this node");
  EXPECT_EQ(may_read_counters(alice, usual, {2}).reason, "you have no job on this node");  // not how many have
  EXPECT_FALSE(may_see_node(alice).reason.empty());
}

}  // namespace
}  // namespace lull::service
