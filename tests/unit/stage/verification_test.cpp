// Files that several processes write, compared with the checksums of what they handed over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "stage/files.hpp"
#include "stage/shared/checks/checksum_log.hpp"
#include "stage/shared/checks/crc32c.hpp"
#include "stage/shared/checks/verification.hpp"
#include "stage/shared_files.hpp"
#include "surroundings.hpp"

namespace lull::stage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(checksum, is_that_of_the_standard_with_and_without_the_instruction) {
  const std::string digits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(digits))), 0xe3069283U);
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += static_cast<char>(i * 37);
    EXPECT_EQ(crc32c(std::as_bytes(std::span(text))), crc32c_by_tables(std::as_bytes(std::span(text)))) << i;
  }
}

class verification : public testing::Test {
 protected:
  void put(std::uint64_t order, std::int64_t offset, const std::string& text) {
    const piece one{offset, static_cast<std::int64_t>(text.size())};
    const auto* const data = reinterpret_cast<const std::byte*>(text.data());
    log_.wrote(path_, inode(), order, checksum_log::sums_of({&one, 1}, data));
  }
  void content(const std::string& text) { std::ofstream(path_, std::ios::trunc) << text; }
  [[nodiscard]] std::uint64_t inode() const {
    struct stat found {};
    EXPECT_EQ(stat(path_.c_str(), &found), 0);
    return found.st_ino;
  }
  [[nodiscard]] verified end() {
    log_.end();
    verified found = verify(folder_.path().string(), 1);
    for (const auto& one : std::filesystem::directory_iterator(folder_.path()))
      EXPECT_FALSE(one.path().native().ends_with(checksum_log::suffix)) << "the log is removed";
    return found;
  }

  temporary_folder folder_;
  std::string path_ = [this] {
    std::string path = (folder_.path() / "file").string();
    std::ofstream(path).flush();
    return path;
  }();
  checksum_log log_{folder_.path().string()};
};

TEST_F(verification, the_last_writer_counts_in_whichever_order_the_logs_are) {
  content("newer old");
  put(9, 0, "newer");
  put(3, 0, "older");
  put(4, 6, "old");
  const verified found = end();
  EXPECT_THAT(found.mismatches, IsEmpty());
  EXPECT_EQ(found.bytes, 8);
  EXPECT_EQ(found.files, 1);
  EXPECT_EQ(found.without_sum, 0);
}

TEST_F(verification, another_byte_is_a_mismatch) {
  content("textual");
  put(1, 0, "text");
  put(2, 4, "ure");
  const verified found = end();
  EXPECT_THAT(found.mismatches,
              ElementsAre(path_ + ": read 3 bytes at 4 back: they are not those that were handed over"));
  EXPECT_EQ(found.files, 0);
}

TEST_F(verification, a_file_that_is_too_short_is_a_mismatch) {
  content("te");
  put(1, 0, "text");
  EXPECT_THAT(end().mismatches, ElementsAre(HasSubstr("too short")));
}

TEST_F(verification, the_rest_of_a_block_that_was_overwritten_in_part_has_no_checksum) {
  content("aXXaa");
  put(1, 0, "aaaaa");
  put(2, 1, "XX");
  const verified found = end();
  EXPECT_THAT(found.mismatches, IsEmpty());
  EXPECT_EQ(found.bytes, 2);
  EXPECT_EQ(found.without_sum, 3);
}

TEST_F(verification, what_is_behind_a_later_end_does_not_count) {
  content("abc");
  put(1, 0, "abc");
  put(2, 3, "cut off");
  log_.set_size(path_, inode(), 3, 3);
  const verified found = end();
  EXPECT_THAT(found.mismatches, IsEmpty());
  EXPECT_EQ(found.bytes, 3);
  EXPECT_EQ(found.without_sum, 0);
}

TEST_F(verification, what_cannot_be_compared_is_named) {
  put(1, 0, "abc");
  log_.declined(path_, inode());
  const verified found = end();
  EXPECT_THAT(found.mismatches, IsEmpty());
  EXPECT_THAT(found.not_verified, ElementsAre(HasSubstr("by itself")));
}

TEST_F(verification, a_missing_log_is_a_failure) {
  content("abc");
  put(1, 0, "abc");
  log_.end();
  EXPECT_THAT(verify(folder_.path().string(), 2).mismatches, ElementsAre(HasSubstr("1 of 2 processes left")));
}

TEST_F(shared_files_of_a_node, what_processes_hand_over_can_be_verified) {
  const auto path = file();
  const auto pages = directory::new_pages(2, 64 * KiB);
  const auto view = [&](int position) {
    return std::make_shared<directory>(descriptor(dup(pages.get())), 2, 64 * KiB, position, 1);
  };
  node_files client(view(0), {.verify_in = folder_.path().string()}, storage_limit());
  server_thread server(view(1), 1, storage_limit());
  const int number = client.open(path, true).value();
  for (int i = 0; i < 20; ++i) write(client, number, i * 500, std::string(1000, static_cast<char>('a' + i)));
  EXPECT_EQ(client.close(number), 0);
  client.finish();
  (void)server.finish();
  const verified found = verify(folder_.path().string(), 1);
  EXPECT_THAT(found.mismatches, IsEmpty());
  EXPECT_EQ(found.bytes, 1000);
  EXPECT_EQ(found.without_sum, 19 * 500);
}

}  // namespace
}  // namespace lull::stage
