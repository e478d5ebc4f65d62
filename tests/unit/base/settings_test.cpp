#include "base/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "base/error.hpp"

namespace lull {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class settings_test : public testing::Test {
 protected:
  void TearDown() override {
    for (const auto& s : all_settings()) unsetenv(s.variable);
    unsetenv("LULL_WIAT");
  }
  static std::string refusal(const char* variable, const char* text) {
    setenv(variable, text, 1);
    try {
      (void)setting_integer(variable);
    } catch (const error& e) {
      return e.what();
    }
    return "";
  }
};

TEST_F(settings_test, every_default_is_valid) {
  for (const auto& s : all_settings()) {
    SCOPED_TRACE(s.variable);
    EXPECT_NO_THROW(check_setting(s));
  }
}

TEST_F(settings_test, each_variable_is_described_once) {
  std::set<std::string> variables;
  for (const setting& row : all_settings()) EXPECT_TRUE(variables.insert(row.variable).second) << row.variable;
}

TEST_F(settings_test, the_environment_overrides_the_default) {
  setenv("LULL_WAIT", "poll", 1);
  EXPECT_EQ(setting_text("LULL_WAIT"), "poll");
}

TEST_F(settings_test, a_bad_value_names_variable_value_and_wish) {
  EXPECT_THAT(refusal("LULL_NODES", "two"),
              AllOf(HasSubstr("LULL_NODES"), HasSubstr("'two'"), HasSubstr("whole number")));
  EXPECT_THAT(refusal("LULL_NODES", "0"), HasSubstr("1..4096"));
  setenv("LULL_WAIT", "pol", 1);
  EXPECT_THROW((void)setting_text("LULL_WAIT"), error);
  setenv("LULL_WAIT", "poll|interrupt", 1);
  EXPECT_THROW((void)setting_text("LULL_WAIT"), error);
}

TEST_F(settings_test, sizes_are_never_less_than_was_asked_for) {
  EXPECT_EQ(parse_size("3.1m"), 3250586U);  // the example of OpenSHMEM: 3250585.6
  EXPECT_EQ(parse_size("0.5"), 1U);
}

TEST_F(settings_test, variables_of_openshmem_have_their_old_names_too) {
  setenv("SMA_SYMMETRIC_SIZE", "8M", 1);
  EXPECT_EQ(setting_size("SHMEM_SYMMETRIC_SIZE"), 8U << 20);
  EXPECT_TRUE(setting_is_set("SHMEM_SYMMETRIC_SIZE"));
  setenv("SHMEM_SYMMETRIC_SIZE", "4M", 1);
  EXPECT_EQ(setting_size("SHMEM_SYMMETRIC_SIZE"), 4U << 20);
  unsetenv("SMA_SYMMETRIC_SIZE");
}

TEST_F(settings_test, sizes_are_powers_of_1024) {
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("64K"), 65536U);
  EXPECT_EQ(parse_size("1.5GiB"), std::size_t{3} << 29);
  EXPECT_EQ(parse_size(".5m"), std::size_t{1} << 19);
  EXPECT_EQ(parse_size("2t"), std::size_t{1} << 41);
  for (const char* bad : {"", "K", "-1", "64Q", "1e99", "12 K"}) EXPECT_THROW((void)parse_size(bad), error) << bad;
}

TEST_F(settings_test, a_misspelt_variable_is_found_with_its_nearest_name) {
  setenv("LULL_WIAT", "poll", 1);
  const auto unknown = unknown_variables();
  ASSERT_EQ(unknown.size(), 1U);
  EXPECT_EQ(unknown[0].variable, "LULL_WIAT");
  EXPECT_EQ(unknown[0].nearest, "LULL_WAIT");
}

}  // namespace
}  // namespace lull
