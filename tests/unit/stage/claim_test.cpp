// The place of a file in the name space: claimed, filled, renamed, linked, and removed in between.
#include "stage/files/claim.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <fstream>
#include <thread>

#include "base/error.hpp"
#include "stage/files.hpp"
#include "surroundings.hpp"

namespace lull::stage {
namespace {

namespace fs = std::filesystem;

class claimed_place : public testing::Test {
 protected:
  [[nodiscard]] fs::path at(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] std::ptrdiff_t count() const { return entries(folder_.path()); }
  static void fill(const claim& place, const fs::path& name, const std::string& text) {
    const descriptor content(memfd_create("content", MFD_CLOEXEC));
    EXPECT_EQ(pwrite(content.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    fill_claim(content.get(), place, {.path = name, .mark = "1"}, true);
  }

 private:
  temporary_folder folder_;
};

TEST_F(claimed_place, exists_from_the_start_with_the_mode_of_any_new_file) {
  const mode_t mask = umask(027);
  const auto place = take_claim(at("a"), true);
  umask(mask);
  ASSERT_TRUE(place.has_value());
  EXPECT_TRUE(place->created);
  EXPECT_EQ(text_of(at("a")), "");
  fill(*place, at("a"), "new");
  EXPECT_EQ(text_of(at("a")), "new");
  EXPECT_EQ(fs::status(at("a")).permissions(), fs::perms(0640));
  EXPECT_EQ(count(), 1);
}

TEST_F(claimed_place, is_of_regular_files_only) {
  fs::create_symlink("a", at("link"));
  mkfifo(at("fifo").c_str(), 0600);
  std::ofstream(at("old")) << "old";
  EXPECT_FALSE(take_claim(at("link"), false));
  EXPECT_FALSE(take_claim(at("fifo"), false));
  EXPECT_FALSE(take_claim(at("missing") / "a", false));
  EXPECT_FALSE(take_claim("/dev/null", false));
  EXPECT_FALSE(take_claim(at("old"), true));
  EXPECT_EQ(count(), 3);
}

TEST_F(claimed_place, keeps_the_old_content_until_it_is_filled) {
  std::ofstream(at("a")) << "old";
  const auto place = take_claim(at("a"), false);
  ASSERT_TRUE(place.has_value());
  EXPECT_FALSE(place->created);
  EXPECT_EQ(text_of(at("a")), "old");
  withdraw(*place, at("a"));
  EXPECT_EQ(text_of(at("a")), "old");
  fill(*place, at("a"), "new");
  EXPECT_EQ(text_of(at("a")), "new");
}

TEST_F(claimed_place, is_found_under_new_names) {
  fs::create_directory(at("folder.tmp"));
  const auto moved = take_claim(at("folder.tmp") / "a", false);
  const auto renamed = take_claim(at("b"), false);
  fs::rename(at("folder.tmp"), at("folder"));
  fs::create_directory(at("folder.tmp"));
  std::ofstream(at("folder.tmp") / "a") << "another";
  fs::rename(at("b"), at("c"));
  fill(*moved, at("folder.tmp") / "a", "new");
  fill(*renamed, at("b"), "new too");
  EXPECT_EQ(text_of(at("folder") / "a"), "new");
  EXPECT_EQ(text_of(at("folder.tmp") / "a"), "another");
  EXPECT_EQ(text_of(at("c")), "new too");
  EXPECT_FALSE(fs::exists(at("b")));
}

TEST_F(claimed_place, is_gone_with_its_name) {
  const auto place = take_claim(at("a"), false);
  std::ofstream(at("b")) << "another";
  fs::rename(at("b"), at("a"));
  fill(*place, at("a"), "new");
  EXPECT_EQ(text_of(at("a")), "another");
  EXPECT_EQ(count(), 1);
}

TEST_F(claimed_place, of_several_names_is_filled_for_all) {
  std::ofstream(at("a")) << "something longer";
  fs::create_hard_link(at("a"), at("b"));
  fill(*take_claim(at("a"), false), at("a"), "new");
  EXPECT_EQ(text_of(at("a")), "new");
  EXPECT_EQ(text_of(at("b")), "new");
}

TEST_F(claimed_place, keeps_extended_attributes) {
  std::ofstream(at("a")) << "old";
  if (setxattr(at("a").c_str(), "user.lull", "kept", 4, 0) != 0) GTEST_SKIP() << "no attributes here";
  fill(*take_claim(at("a"), false), at("a"), "new");
  std::array<char, 8> value{};
  EXPECT_EQ(getxattr(at("a").c_str(), "user.lull", value.data(), value.size()), 4);
  EXPECT_EQ(text_of(at("a")), "new");
}

TEST_F(claimed_place, that_cannot_be_filled_leaves_nothing_new) {
  const auto place = take_claim(at("a"), false);
  EXPECT_THROW(fill_claim(-1, *place, {.path = at("a"), .mark = "1"}, false), error);
  EXPECT_EQ(count(), 0);
}

TEST_F(claimed_place, that_is_withdrawn_goes_away_under_whatever_name) {
  const auto place = take_claim(at("a"), false);
  fs::rename(at("a"), at("b"));
  withdraw(*place, at("a"));
  EXPECT_EQ(count(), 0);
}

TEST_F(claimed_place, is_waited_for_while_it_is_marked) {
  const auto place = take_claim(at("a"), false);
  const descriptor reader(open(at("a").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(wait_for_mark(reader.get()));
  mark_under_way(place->file.get());
  std::jthread later([&] {
    fill(*place, at("a"), "new");
    lift_mark(place->file.get());
  });
  (void)wait_for_mark(reader.get());
  EXPECT_EQ(text_of(at("a")), "new");
}

}  // namespace
}  // namespace lull::stage
