#include "service/publication.hpp"

#include <gtest/gtest.h>

namespace lull::service {
namespace {

constexpr std::int64_t joule = 1'000'000;

std::vector<counter_value> at(std::int64_t uj) { return {{.uj = uj, .lost = 0, .failed = false}}; }

TEST(publication, has_steps_that_never_exceed_what_was_counted) {
  publication p("i");
  p.set_users({1});
  p.publish(at(0), 0);
  p.publish(at(199'999), 100);
  EXPECT_EQ(p.of(false)->uj[0], 100'000);
  EXPECT_EQ(p.of(false)->number, 2);
  EXPECT_EQ(p.of(false)->time_ns, 100);
}

TEST(publication, of_a_new_epoch_starts_at_0_and_what_was_published_before_is_gone) {
  publication p("i");
  p.set_users({1});
  p.publish(at(5 * joule), 0);
  p.publish(at(9 * joule), 1);
  EXPECT_EQ(p.of(false)->uj[0], 4 * joule);
  const std::string before = p.of(false)->epoch;
  p.set_users({1, 2});
  EXPECT_FALSE(p.of(false));
  p.publish(at(200 * joule), 2);
  p.set_users({1});
  EXPECT_FALSE(p.of(false));
  p.publish(at(300 * joule), 3);
  EXPECT_EQ(p.of(false)->uj[0], 0);
  EXPECT_NE(p.of(false)->epoch, before);
}

TEST(publication, a_further_job_of_the_same_user_begins_no_epoch) {
  publication p("i");
  p.set_users({1});
  p.publish(at(0), 0);
  const std::string before = p.of(false)->epoch;
  p.set_users({1});
  EXPECT_EQ(p.of(false)->epoch, before);
}

TEST(publication, administrators_see_one_epoch_for_each_start) {
  publication p("i");
  p.publish(at(5 * joule), 0);
  p.set_users({1});
  EXPECT_EQ(p.of(true)->uj[0], 5 * joule);
  EXPECT_EQ(p.of(true)->epoch, "i");
}

TEST(publication, a_failed_reading_has_no_value) {
  publication p("i");
  p.publish({{.uj = 5, .lost = 3, .failed = true}}, 0);
  EXPECT_EQ(p.of(true)->uj[0], std::nullopt);
  EXPECT_EQ(p.of(true)->lost[0], 3);
}

}  // namespace
}  // namespace lull::service
