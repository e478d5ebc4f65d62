#include "base/pages.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/descriptor.hpp"

namespace lull {
namespace {

TEST(page, is_what_rounding_to_it_gives) {
  EXPECT_EQ(round_up(1, page_size()), page_size());
  EXPECT_EQ(round_up(page_size(), page_size()), page_size());
  EXPECT_EQ(round_down(2 * page_size() - 1, page_size()), page_size());
  EXPECT_EQ(round_up(0, page_size()), 0U);
}

constexpr std::size_t bytes = 1 << 20;

TEST(shared_pages, are_in_the_file_before_they_are_used) {
  const descriptor file(memfd_create("lull-test", MFD_CLOEXEC));
  int failed = 0;
  void* const mapped = map_pages(file.get(), bytes, failed);
  ASSERT_NE(mapped, nullptr);
  EXPECT_EQ(failed, 0);
  struct stat status {};
  ASSERT_EQ(fstat(file.get(), &status), 0);
  EXPECT_EQ(status.st_size, static_cast<off_t>(bytes));
  EXPECT_GE(status.st_blocks * 512, static_cast<off_t>(bytes));
  munmap(mapped, bytes);
}

TEST(shared_pages, leave_what_another_process_has_written) {
  const descriptor file(memfd_create("lull-test", MFD_CLOEXEC));
  int failed = 0;
  auto* const first = static_cast<char*>(map_pages(file.get(), bytes, failed));
  ASSERT_NE(first, nullptr);
  first[bytes - 1] = 'x';
  auto* const second = static_cast<char*>(map_pages(file.get(), bytes, failed));
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second[bytes - 1], 'x');
  munmap(first, bytes);
  munmap(second, bytes);
}

TEST(shared_pages, are_added_behind_those_that_are_there) {
  const descriptor file(memfd_create("lull-test", MFD_CLOEXEC));
  ASSERT_EQ(allocate_pages(file.get(), bytes), 0);
  ASSERT_EQ(allocate_pages(file.get(), bytes, bytes), 0);
  struct stat status {};
  ASSERT_EQ(fstat(file.get(), &status), 0);
  EXPECT_EQ(status.st_size, static_cast<off_t>(2 * bytes));
}

TEST(shared_pages, that_are_not_to_be_had_are_an_errno_and_no_signal) {
  const descriptor file(memfd_create("lull-test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(fcntl(file.get(), F_ADD_SEALS, F_SEAL_GROW), 0);
  int failed = 0;
  EXPECT_EQ(map_pages(file.get(), bytes, failed), nullptr);
  EXPECT_EQ(failed, EPERM);
}

}  // namespace
}  // namespace lull
