// Shared by tests of several rooms: a temporary folder, and settings that last for one test.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/settings.hpp"

namespace lull {

class temporary_folder {
 public:
  temporary_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lull-test-XXXXXX").string();
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
  // In place, like sysfs: an open descriptor sees the new content.
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

// Every setting has its default when a test begins.
class settings_by_default : public testing::Test {
 protected:
  settings_by_default() { forget_settings(); }
  ~settings_by_default() override { forget_settings(); }
  static void set(const char* variable, const char* value) { setenv(variable, value, 1); }

 private:
  static void forget_settings() {
    for (const setting& s : all_settings()) unsetenv(s.variable);
  }
};

}  // namespace lull
