// A limited storage, shared by the processes of a machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "stage/files/storage_limit.hpp"
#include "stage/processes.hpp"

namespace lull::stage {
namespace {

constexpr std::uint64_t MiB = std::uint64_t{1} << 20U;

TEST(storage_limit, is_one_for_all_processes_of_the_machine_whatever_their_nodes) {
  processes job({"a", "a", "b"}, [](exchange& others, meeting_place&) {
    const storage_limit storage(16 * MiB, 0, others);
    const std::int64_t begin = now_ns();  // before any writes, however late this process learns that all are there
    (void)others.all({});
    storage.pass(MiB / 2);
    (void)others.all({});
    const double seconds = static_cast<double>(now_ns() - begin) * 1e-9;
    EXPECT_GE(seconds, 3 * 0.5 / 16 - 0.003);  // the time that a writer that was woken late may catch up
    return 0;
  });
  EXPECT_THAT(job.wait_all(), testing::Each(0)) << job.said();
}

TEST(storage_limit, is_less_the_more_writers_hinder_each_other) {
  processes job({"a", "a"}, [](exchange& others, meeting_place&) {
    const storage_limit storage(16 * MiB, 1, others);
    const std::int64_t begin = now_ns();
    if (others.rank() == 0) storage.pass(MiB);  // alone: half of it
    EXPECT_GE(static_cast<double>(now_ns() - begin) * 1e-9, others.rank() == 0 ? 2.0 / 16 - 0.003 : 0);
    (void)others.all({});
    return 0;
  });
  EXPECT_THAT(job.wait_all(), testing::Each(0)) << job.said();
}

TEST(storage_limit, none_never_waits_and_is_never_agreed_upon) {
  processes job({"a", "a"}, [](exchange& others, meeting_place&) {
    if (others.rank() == 1) return 0;
    const storage_limit storage(0, 0, others);
    storage.pass(~std::uint64_t{0});
    storage_limit().pass(MiB);
    return 0;
  });
  EXPECT_THAT(job.wait_all(), testing::Each(0)) << job.said();
}

}  // namespace
}  // namespace lull::stage
