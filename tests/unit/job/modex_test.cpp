#include "job/modex.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace lull::job {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

modex_data some_process() { return {.where = {3, 1}, .cores = {5, 1U << 7U}, .added = {std::byte{1}, std::byte{2}}}; }

std::string refusal(std::span<const std::byte> bytes) {
  try {
    (void)modex_data_from(bytes, pe_id{4});
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(modex_data, says_all_that_the_process_has_said) {
  const modex_data read = modex_data_from(to_bytes(some_process()), pe_id{4});
  EXPECT_EQ(read.where, (place{3, 1}));
  EXPECT_EQ(read.cores, some_process().cores);
  EXPECT_EQ(read.added, some_process().added);
}

TEST(modex_data, that_is_too_short_is_refused_wherever_it_ends) {
  modex_data shown = some_process();
  shown.added.clear();
  const std::vector<std::byte> all = to_bytes(shown);
  for (std::size_t bytes = 0; bytes < all.size(); ++bytes)
    EXPECT_THAT(refusal(std::span(all).first(bytes)), AllOf(StartsWith("join the job with PE 4: "), HasSubstr("build")))
        << bytes;
  EXPECT_EQ(refusal(all), "");
}

TEST(modex_data, of_another_version_is_refused_by_name) {
  std::vector<std::byte> all = to_bytes(some_process());
  all[8] = std::byte{'9'};  // of the version
  EXPECT_THAT(refusal(all), AllOf(HasSubstr("it runs Lull 9"), HasSubstr("load the same build of Lull on all nodes")));
}

TEST(modex_data, of_something_else_is_refused) {
  EXPECT_THAT(refusal(std::vector<std::byte>(200)), HasSubstr("it runs another version of Lull"));
}

TEST(modex_data, with_a_mistake_is_that_mistake) {
  const std::string mistake = "read setting LULL_NODES: 'two' is not a whole number";
  try {
    (void)modex_data_from(to_bytes({.mistake = mistake}), pe_id{4});
    FAIL();
  } catch (const mistake_of_other& e) {
    EXPECT_EQ(e.what(), "PE 4: " + mistake);
  }
}

}  // namespace
}  // namespace lull::job
