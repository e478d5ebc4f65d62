// The spool of rows, on this machine's disk: what must hold after each step, a crash, and with a disk that is full.
#include "service/spool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace lull::service {
namespace {

namespace fs = std::filesystem;

class spool_test : public testing::Test {
 protected:
  spool_test() {
    std::string name = (fs::temp_directory_path() / "lull-spool-XXXXXX").string();
    top_ = ::mkdtemp(name.data());
    folder_ = top_ / "spool";
  }
  ~spool_test() override { fs::remove_all(top_); }
  spool_test(const spool_test&) = delete;
  spool_test& operator=(const spool_test&) = delete;

  static std::string text(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> complete() const {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path().filename().string().starts_with("rows-")) paths.push_back(entry.path());
    std::ranges::sort(paths);
    std::vector<std::string> texts;
    texts.reserve(paths.size());
    for (const fs::path& path : paths) texts.push_back(text(path));
    return texts;
  }

  fs::path top_, folder_;
};

TEST_F(spool_test, rows_are_handed_on_after_a_minute) {
  spool s(folder_);
  s.add("one");
  s.write(1'000'000'000);
  s.add("two");
  s.write(2'000'000'000);
  EXPECT_TRUE(s.waiting().empty());
  EXPECT_FALSE(s.is_due(60'000'000'000));
  EXPECT_TRUE(s.is_due(61'000'000'000));
  s.hand_on();
  EXPECT_EQ(complete(), std::vector<std::string>{"one\ntwo\n"});
  EXPECT_FALSE(s.is_due(200'000'000'000));
}

TEST_F(spool_test, a_full_file_takes_no_more_and_files_have_the_order_of_their_rows) {
  spool s(folder_, {.rows_of_file = 2});
  for (const char* row : {"a", "b", "c", "d", "e"}) s.add(row);
  for (int i = 0; i < 3; ++i) {
    s.write(0);
    s.hand_on();
  }
  EXPECT_EQ(complete(), (std::vector<std::string>{"a\nb\n", "c\nd\n", "e\n"}));
}

TEST_F(spool_test, an_earlier_spools_file_is_handed_on_without_the_half_row_of_a_crash) {
  {
    spool s(folder_);
    s.add("whole");
    s.write(0);
  }
  std::ofstream(folder_ / "writing", std::ios::app) << "hal";
  spool s(folder_);
  EXPECT_TRUE(s.contains("whole"));
  EXPECT_FALSE(s.contains("hal"));
  EXPECT_TRUE(s.is_due(0));
  s.hand_on();
  s.add("next");
  s.write(0);
  EXPECT_EQ(complete(), std::vector<std::string>{"whole\n"});
  EXPECT_EQ(text(folder_ / "writing"), "next\n");
}

TEST_F(spool_test, a_file_goes_on_after_those_of_earlier_spools) {
  fs::create_directory(folder_);
  std::ofstream(folder_ / "rows-00999999999999999999.jsonl") << "future\n";
  spool s(folder_);
  s.add("row");
  s.write(0);
  s.hand_on();
  EXPECT_TRUE(fs::exists(folder_ / "rows-01000000000000000000.jsonl"));
}

TEST_F(spool_test, a_folder_that_cannot_be_written_is_reported_once_and_rows_wait_for_it) {
  std::ofstream(folder_) << "a file";
  testing::internal::CaptureStderr();
  spool s(folder_, {.waiting_rows = 2});
  s.add("one");
  s.write(0);
  s.add("two");
  s.write(0);
  s.add("three");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(said, '\n'), 2) << said;
  EXPECT_NE(said.find("rows wait in memory"), std::string::npos);
  EXPECT_NE(said.find("rows are lost"), std::string::npos);
  EXPECT_EQ(s.lost(), 1);
  fs::remove(folder_);
  s.write(0);
  EXPECT_TRUE(s.waiting().empty());
  EXPECT_EQ(text(folder_ / "writing"), "one\ntwo\n");
}

TEST_F(spool_test, without_a_folder_it_keeps_nothing) {
  spool s("");
  s.add("row");
  s.write(0);
  EXPECT_TRUE(s.waiting().empty());
  EXPECT_FALSE(s.is_due(1'000'000'000'000));
}

}  // namespace
}  // namespace lull::service
