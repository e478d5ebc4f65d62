#include "stage/files/whole_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fstream>

#include "base/error.hpp"
#include "stage/files.hpp"
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
    const descriptor content(memfd_create("content", MFD_CLOEXEC));
    EXPECT_EQ(pwrite(content.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    write_whole_file(content.get(), where, false);
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
  const descriptor content(memfd_create("content", MFD_CLOEXEC));
  write_whole_file(content.get(), {.path = at("a"), .mark = "1"}, true);
  EXPECT_TRUE(fs::exists(at("a")));
}

TEST_F(whole_file, keeps_holes) {
  const descriptor content(memfd_create("content", MFD_CLOEXEC));
  constexpr off_t far = off_t{64} << 20U;
  ASSERT_EQ(pwrite(content.get(), "end", 3, far), 3);
  write_whole_file(content.get(), {.path = at("a"), .mark = "1"}, false);
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

// From here on, file systems do not support files without a name for this process.
bool forbid_nameless_files() {
  std::array<sock_filter, 6> filter{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{filter.size(), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(whole_file, does_without_nameless_files) {
  std::ofstream(at("old")) << "something longer";
  const auto in_child = [&] {
    if (!forbid_nameless_files()) std::_Exit(77);
    write("new", {.path = at("old"), .mark = "1"});
    write("new", {.path = at("fresh"), .exclusive = true, .mark = "2"});
    EXPECT_THROW(write("newer", {.path = at("fresh"), .exclusive = true, .mark = "3"}), error);
    EXPECT_EQ(text_of(at("old")) + text_of(at("fresh")), "newnew");
    EXPECT_EQ(entries(), 2);
    std::_Exit(HasFailure() ? 1 : 0);
  };
  const pid_t child = fork();
  if (child == 0) in_child();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(status, 0);
}

TEST_F(whole_file, removes_what_a_killed_process_has_left) {
  const destination where{.path = at("a"), .mark = "7"};
  std::ofstream(at(".lull-stage-7")) << "half";
  std::ofstream(at(".lull-stage-8")) << "another's";
  remove_leftover(where);
  EXPECT_FALSE(fs::exists(at(".lull-stage-7")));
  EXPECT_TRUE(fs::exists(at(".lull-stage-8")));
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

}  // namespace
}  // namespace lull::stage
