// What the tests of the meter share: fake trees in a temporary folder, settings that last for one test, and channels
// by name.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "meter/source.hpp"

namespace lull::meter {

class temporary_folder {
 public:
  temporary_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lull-meter-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // In place, as sysfs does it: an open descriptor sees the new content.
  void write(const std::string& file, const std::string& content) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    if (std::filesystem::exists(path_ / file))
      std::filesystem::permissions(path_ / file, std::filesystem::perms::owner_write,
                                   std::filesystem::perm_options::add);
    std::ofstream(path_ / file) << content << '\n';
  }

 private:
  std::filesystem::path path_;
};

// A tree of tests/fixtures/make_sysfs_fixtures.py, in a folder of its own.
class fixture_tree : public temporary_folder {
 public:
  explicit fixture_tree(const std::string& name) : name_(name) {
    const std::string command = std::string(LULL_FIXTURE_WRITER) + " " + path().string() + " " + name + " > /dev/null";
    if (std::system(command.c_str()) != 0) ADD_FAILURE() << command;
  }
  [[nodiscard]] std::string root() const { return (path() / name_).string(); }
  [[nodiscard]] sysroot files(sysroot::fault inject = {}) const { return sysroot(root(), std::move(inject)); }
  void set(const std::string& file, const std::string& content) const { write(name_ + file, content); }

 private:
  std::string name_;
};

// Every setting has its default when a test begins.
class meter_test : public testing::Test {
 protected:
  meter_test() { forget_settings(); }
  ~meter_test() override { forget_settings(); }
  static void set(const char* variable, const char* value) { setenv(variable, value, 1); }

 private:
  static void forget_settings() {
    for (const setting& s : all_settings()) unsetenv(s.variable);
  }
};

[[nodiscard]] inline std::unique_ptr<source> make(std::string_view name, const sysroot& root) {
  return std::ranges::find(source_table(), name, &source_entry::name)->make(root);
}

[[nodiscard]] inline std::vector<std::string> channel_names(const source& s) {
  std::vector<std::string> names;
  for (const channel& c : s.description().channels) names.push_back(c.name);
  return names;
}

[[nodiscard]] inline std::vector<reading> read_all(source& s) {
  std::vector<reading> readings(s.description().channels.size());
  s.read(readings);
  return readings;
}

}  // namespace lull::meter
