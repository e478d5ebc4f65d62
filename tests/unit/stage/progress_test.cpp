// The progress of files, between processes.
#include "stage/files/progress.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lull::stage {
namespace {

TEST(files_of_clients, end_in_any_order_and_count_as_far_as_all_have) {
  const progress all({0, 1});
  for (int i = 0; i < 3; ++i) all.begin(1);
  EXPECT_EQ(all.busy(), 3);
  all.end_whole(1, 3, false);
  all.end_whole(1, 2, true);
  EXPECT_EQ(all.of(1).ended, 0);
  EXPECT_TRUE(all.has_ended(1, 3));
  EXPECT_FALSE(all.has_ended(1, 1));
  all.end_whole(1, 1, false);
  EXPECT_EQ(all.of(1).ended, 3);
  EXPECT_EQ(all.of(1).failed, 1);
  EXPECT_EQ(all.of(0).ended, 0);
  EXPECT_EQ(all.busy(), 0);
}

TEST(files_of_clients, are_numbered_beyond_the_places_of_those_that_end_early) {
  const progress all({0});
  constexpr std::uint32_t many = 3 * client_progress::most;
  for (std::uint32_t i = 1; i <= many; i += 2) {
    all.end_whole(0, i + 1, false);
    all.end_whole(0, i, false);
  }
  EXPECT_EQ(all.of(0).ended, many);
}

TEST(files_of_clients, that_have_died_do_not_keep_others_waiting) {
  const progress all({0, 1});
  for (int i = 0; i < 3; ++i) all.begin(0);
  all.begin(1);
  all.forget(0, 1);  // two were never handed over
  EXPECT_EQ(all.busy(), 2);
}

TEST(files_of_clients, are_ended_by_another_process) {
  const progress all({0});
  all.begin(0);
  const pid_t child = fork();
  if (child == 0) {
    all.end_whole(0, 1, false);
    _exit(0);
  }
  while (all.of(0).ended != 1) sleep_until_ended(all.of(0), 0);
  EXPECT_EQ(all.busy(), 0);
  waitpid(child, nullptr, 0);
}

TEST(files_of_clients, of_another_process_are_waited_for_by_their_place) {
  const progress all({3, 7});
  const file_identity one{1, 10}, other{1, 11};
  all.of(7).process = getpid();
  for (const file_identity& place : {one, other}) {
    all.begin(7);
    (void)all.hand_over(7, place);
  }
  all.end_whole(7, 1, false);
  EXPECT_TRUE(all.wait_for_others(3, &one));
  EXPECT_TRUE(all.wait_for_others(7, &other));  // its own file
  const pid_t child = fork();
  if (child == 0) {
    all.end_whole(7, 2, true);
    _exit(0);
  }
  EXPECT_TRUE(all.wait_for_others(3, &other));
  EXPECT_EQ(all.of(7).ended, 2);
  EXPECT_TRUE(all.has_failures());
  waitpid(child, nullptr, 0);
}

TEST(files_of_clients, of_processes_that_cannot_be_seen_are_waited_for) {
  const progress all({0, 1});
  all.begin(1);
  (void)all.hand_over(1, {1, 10});
  const pid_t child = fork();
  if (child == 0) {
    all.end_whole(1, 1, false);
    _exit(0);
  }
  EXPECT_TRUE(all.wait_for_others(0, nullptr));  // its number is 0
  waitpid(child, nullptr, 0);
}

TEST(files_of_clients, that_nobody_will_write_are_not_waited_for) {
  const progress all({0, 1});
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  all.of(1).process = child;
  all.begin(1);
  (void)all.hand_over(1, {1, 10});
  EXPECT_FALSE(all.wait_for_others(0, nullptr));
}

}  // namespace
}  // namespace lull::stage
