#include "stage/whole_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/error.hpp"
#include "stage/files.hpp"
#include "stage/staged_file.hpp"
#include "surroundings.hpp"

namespace lull::stage {
namespace {

namespace fs = std::filesystem;

class whole_file : public testing::Test {
 protected:
  [[nodiscard]] fs::path at(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] const fs::path& folder() const { return folder_.path(); }
  [[nodiscard]] std::ptrdiff_t entries() const { return stage::entries(folder()); }
  static void write(const std::string& text, const destination& where) {
    const staged_file content(where.path, where.exclusive);
    EXPECT_EQ(pwrite(content.descriptor(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    write_whole_file(content.descriptor(), where, false);
  }

 private:
  temporary_folder folder_;
};

TEST_F(whole_file, is_created_with_the_mode_of_any_new_file) {
  const mode_t mask = umask(027);
  write("new", {.path = at("a"), .mark = "1"});
  umask(mask);
  EXPECT_EQ(text_of(at("a")), "new");
  EXPECT_EQ(fs::status(at("a")).permissions(), fs::perms(0640));
  EXPECT_EQ(entries(), 1);
}

TEST_F(whole_file, replaces_one_and_keeps_its_mode) {
  std::ofstream(at("a")) << "something longer";
  fs::permissions(at("a"), fs::perms(0604));
  write("new", {.path = at("a"), .mark = "1"});
  EXPECT_EQ(text_of(at("a")), "new");
  EXPECT_EQ(fs::status(at("a")).permissions(), fs::perms(0604));
  EXPECT_EQ(entries(), 1);
}

TEST_F(whole_file, does_not_replace_one_if_exclusive) {
  std::ofstream(at("a")) << "old";
  EXPECT_THROW(write("new", {.path = at("a"), .exclusive = true, .mark = "1"}), error);
  EXPECT_EQ(text_of(at("a")), "old");
  EXPECT_EQ(entries(), 1);
  write("new", {.path = at("b"), .exclusive = true, .mark = "1"});
  EXPECT_EQ(text_of(at("b")), "new");
}

TEST_F(whole_file, is_on_the_disk_if_so_wanted) {
  const staged_file content(at("a"), false);
  write_whole_file(content.descriptor(), {.path = at("a"), .mark = "1"}, true);
  EXPECT_TRUE(fs::exists(at("a")));
}

TEST_F(whole_file, keeps_holes) {
  const staged_file content(at("a"), false);
  constexpr off_t far = off_t{64} << 20U;
  ASSERT_EQ(pwrite(content.descriptor(), "end", 3, far), 3);
  write_whole_file(content.descriptor(), {.path = at("a"), .mark = "1"}, false);
  struct stat found {};
  ASSERT_EQ(stat(at("a").c_str(), &found), 0);
  EXPECT_EQ(found.st_size, far + 3);
  EXPECT_LT(found.st_blocks * 512, off_t{1} << 20U);
  EXPECT_EQ(text_of(at("a")).substr(far), "end");
}

TEST_F(whole_file, says_what_could_not_be_written) {
  const std::string path = at("missing") / "a";
  try {
    write("new", {.path = path, .mark = "1"});
    FAIL();
  } catch (const error& why) {
    EXPECT_THAT(why.what(), testing::AllOf(testing::HasSubstr(path), testing::HasSubstr("No such file")));
  }
  EXPECT_EQ(entries(), 0);
}

TEST_F(whole_file, goes_where_links_lead) {
  fs::create_directory(at("there"));
  fs::create_symlink("there", at("here"));
  fs::create_symlink("here/a", at("link"));
  EXPECT_EQ(final_path_of(at("link")), (fs::canonical(folder()) / "there" / "a").string());
  fs::create_symlink("loop", at("loop"));
  EXPECT_EQ(final_path_of(at("loop")), std::nullopt);
  EXPECT_EQ(final_path_of(folder().string() + "/"), std::nullopt);
  EXPECT_EQ(final_path_of(at("missing") / "a"), std::nullopt);
}

TEST_F(whole_file, is_written_only_where_a_plain_file_may_be) {
  EXPECT_FALSE(may_be_written("/dev/null", false));
  EXPECT_FALSE(may_be_written(folder(), false));
  EXPECT_TRUE(may_be_written(at("a"), true));
  std::ofstream(at("a")) << "old";
  EXPECT_TRUE(may_be_written(at("a"), false));
  EXPECT_FALSE(may_be_written(at("a"), true));
  fs::create_hard_link(at("a"), at("b"));
  EXPECT_FALSE(may_be_written(at("a"), false));
}

}  // namespace
}  // namespace lull::stage
