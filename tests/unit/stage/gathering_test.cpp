#include "stage/writing/gathering.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lull::stage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

write_order order(int client, const std::string& together, std::uint64_t number = 0) {
  write_order made{};
  made.number = number;
  made.client = client;
  made.together = together;
  return made;
}

// "a:0,1" for outputs written together under the name a.
std::vector<std::string> shown(const std::vector<gathering::batch>& batches) {
  std::vector<std::string> made;
  for (const gathering::batch& one : batches) {
    std::string text = one.front().together + ":";
    for (const write_order& each : one) text += (text.back() == ':' ? "" : ",") + std::to_string(each.client);
    made.push_back(text);
  }
  return made;
}

TEST(gathering, is_complete_when_each_client_has_handed_over) {
  gathering some({0, 1, 2});
  EXPECT_THAT(some.add(order(1, "a")), IsEmpty());
  EXPECT_THAT(some.add(order(1, "b")), IsEmpty());
  EXPECT_THAT(some.add(order(0, "a")), IsEmpty());
  EXPECT_THAT(shown(some.add(order(2, "a"))), ElementsAre("a:1,0,2"));
  EXPECT_THAT(some.add(order(2, "b")), IsEmpty());
  EXPECT_THAT(shown(some.add(order(0, "b"))), ElementsAre("b:1,2,0"));
}

TEST(gathering, does_not_wait_for_a_client_that_has_gone_on) {
  gathering some({0, 1});
  EXPECT_THAT(some.add(order(0, "a")), IsEmpty());
  EXPECT_THAT(shown(some.add(order(1, "b"))), ElementsAre("a:0"));
  EXPECT_THAT(shown(some.add(order(0, "b"))), ElementsAre("b:1,0"));
}

TEST(gathering, does_not_wait_for_a_client_that_has_ended) {
  gathering some({0, 1, 2});
  EXPECT_THAT(some.add(order(0, "a")), IsEmpty());
  EXPECT_THAT(some.end_of(1), IsEmpty());
  EXPECT_THAT(shown(some.end_of(2)), ElementsAre("a:0"));
  EXPECT_THAT(shown(some.add(order(0, "b"))), ElementsAre("b:0"));
  EXPECT_THAT(some.end_of_all(), IsEmpty());
}

TEST(gathering, lets_a_client_that_waits_have_the_first_of_its_own_written) {
  gathering some({0, 1});
  EXPECT_THAT(some.add(order(0, "a")), IsEmpty());
  EXPECT_THAT(some.add(order(0, "b", 1)), IsEmpty());
  EXPECT_THAT(some.release_for(1, 2), IsEmpty());
  EXPECT_THAT(shown(some.release_for(0, 1)), ElementsAre("a:0"));
  EXPECT_THAT(shown(some.add(order(1, "a"))), ElementsAre("a:1"));  // late: no other is missing
  EXPECT_THAT(shown(some.add(order(1, "b"))), ElementsAre("b:0,1"));
}

TEST(gathering, writes_what_comes_once_more_after_the_first) {
  gathering some({0, 1});
  EXPECT_THAT(some.add(order(0, "a", 1)), IsEmpty());
  EXPECT_THAT(some.add(order(0, "a", 2)), IsEmpty());
  EXPECT_THAT(shown(some.add(order(1, "a"))), ElementsAre("a:0", "a:0,1"));
}

TEST(gathering, forgets_names_that_are_long_past) {
  gathering some({0, 1});
  for (int i = 0; i < 5000; ++i) {
    EXPECT_THAT(some.add(order(0, std::to_string(i))), IsEmpty());
    EXPECT_THAT(some.add(order(1, std::to_string(i))), testing::SizeIs(1));
  }
}

}  // namespace
}  // namespace lull::stage
