// Shared by the tests of the meter: fake trees, and channels by name.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "meter/source.hpp"
#include "surroundings.hpp"

namespace lull::meter {

// A tree of tests/fixtures/make_sysfs_fixtures.py, in its own folder.
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

using meter_test = settings_by_default;

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
