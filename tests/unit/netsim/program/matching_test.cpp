// Which message a receive takes, and which requests wait for which messages.
#include "netsim/program/matching.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "netsim/program/requests.hpp"
#include "netsim/program/waits.hpp"

namespace lull::netsim {
namespace {

matching::receive receive(std::uint32_t from, std::uint32_t tag, std::uint32_t slot = 0, std::uint64_t context = 0) {
  return {.from = from, .tag = tag, .context = context, .room = 8, .activity = 0, .slot = slot};
}
matching::arrival arrival(std::uint32_t from, std::uint32_t tag, std::uint32_t transfer, std::uint64_t context = 0) {
  return {.from = from, .tag = tag, .context = context, .transfer = transfer};
}

TEST(matching_of_messages, takes_the_first_that_fits) {
  matching m;
  EXPECT_FALSE(m.arrive(arrival(1, 5, 10)));
  EXPECT_FALSE(m.arrive(arrival(2, 5, 11)));
  EXPECT_FALSE(m.arrive(arrival(1, 6, 12)));
  EXPECT_FALSE(m.post(receive(3, any)));
  EXPECT_EQ(m.post(receive(any, 6)), 12U);
  EXPECT_EQ(m.post(receive(any, any)), 10U);
  EXPECT_EQ(m.post(receive(2, 5)), 11U);
  EXPECT_THAT(m.unexpected(), testing::IsEmpty());
  EXPECT_EQ(m.unmatched_receives(), 1U);
}

TEST(matching_of_messages, gives_a_message_to_the_first_receive_that_fits) {
  matching m;
  EXPECT_FALSE(m.post(receive(1, 5, 1)));
  EXPECT_FALSE(m.post(receive(any, any, 2)));
  EXPECT_FALSE(m.post(receive(1, any, 3)));
  EXPECT_EQ(m.arrive(arrival(1, 6, 0))->slot, 2U);
  EXPECT_EQ(m.arrive(arrival(1, 5, 0))->slot, 1U);
  EXPECT_EQ(m.arrive(arrival(1, 5, 0))->slot, 3U);
}

TEST(matching_of_messages, keeps_contexts_apart) {
  matching m;
  EXPECT_FALSE(m.post(receive(any, any, 1, 7)));
  EXPECT_FALSE(m.arrive(arrival(1, 5, 10, 8)));
  EXPECT_EQ(m.arrive(arrival(1, 5, 11, 7))->slot, 1U);
}

TEST(receivers_of_messages, keep_the_number_that_each_was_given) {
  receivers sends_to;
  for (std::uint32_t round = 0; round < 3; ++round)
    for (std::uint32_t other = 0; other < 1000; ++other)
      EXPECT_EQ(sends_to.number_of(other * 65'537, 1000 * round + other), other);
}

TEST(receives, are_known_ahead_where_nothing_else_can_come_before) {
  matching m;
  const matching::arrival from_two{.from = 2, .tag = 5, .context = 0, .transfer = 9};
  EXPECT_FALSE(m.foretell(from_two));
  (void)m.post({.from = 2, .tag = 5, .context = 0, .room = 8, .activity = 0, .slot = 1});
  (void)m.post({.from = any, .tag = 5, .context = 0, .room = 8, .activity = 0, .slot = 2});
  EXPECT_EQ(m.foretell(from_two)->slot, 1U);
  EXPECT_FALSE(m.foretell(from_two));  // others may take the receive from any source
  EXPECT_EQ(m.unmatched_receives(), 1U);
}

TEST(requests_of_a_stream, are_used_again_once_they_were_waited_for) {
  requests r;
  const std::uint32_t slot = r.begin(does::receive(1, 8, 0, 3));
  EXPECT_FALSE(r.done(slot, 0));
  EXPECT_FALSE(r.any_done());
  r.complete(slot);
  EXPECT_TRUE(r.done(slot, 0));
  EXPECT_TRUE(r.any_done());
  EXPECT_EQ(r.take(slot, 0), operation::kind::receive);
  EXPECT_EQ(r.at(slot).is, requests::state::unused);
  EXPECT_TRUE(r.done(r.slot_of(1234), 0));
}

TEST(requests_of_a_stream, are_complete_when_it_was_foretold_unless_an_event_was_asked_for) {
  requests r;
  const std::uint32_t first = r.begin(does::send(1, 8, 0, 0));
  const std::uint32_t second = r.begin(does::send(1, 8, 0, 1));
  r.foretell(first, 100);
  r.foretell(second, 50);
  EXPECT_FALSE(r.done(first, 99));
  EXPECT_TRUE(r.done(first, 100));
  EXPECT_EQ(r.claim(second), 50);
  EXPECT_EQ(r.claim(second), never);
  EXPECT_FALSE(r.done(second, 60));
  r.complete(second);
  EXPECT_TRUE(r.done(second, 60));
  (void)r.ripen(99);
  EXPECT_EQ(r.take(first, 99), operation::kind::compute);
  EXPECT_EQ(r.take(first, 100), operation::kind::send);
  EXPECT_EQ(r.take(second, 100), operation::kind::send);
  EXPECT_EQ(r.active(), 0U);
}

TEST(requests_of_a_stream, of_an_earlier_run_are_not_those_of_the_next) {
  requests r;
  const std::uint32_t earlier = r.begin(does::send(1, 8, 0, 0));
  r.begin_again();
  EXPECT_TRUE(r.done(r.slot_of(0), 0));
  const std::uint32_t slot = r.begin(does::send(1, 8, 0, 0));
  EXPECT_NE(slot, earlier);
  r.complete(earlier);
  EXPECT_FALSE(r.any_done());
  r.complete(slot);
  EXPECT_TRUE(r.any_done());
  r.begin_again();
  EXPECT_EQ(r.slot_of(0), 1U);
}

TEST(waits, name_a_circle_first_and_then_who_waits_for_an_ended_process) {
  const std::vector<process_wait> round{{3, "a"}, {2, "b"}, {1, "c"}, {0, ""}, {any, "d"}};
  EXPECT_EQ(in_words(round), "in a circle of 2, rank 1 waits for b, rank 2 waits for c; 2 others wait");
  const std::vector<process_wait> chain{{1, "a"}, {2, "b"}, {any, ""}, {any, "d"}, {any, "e"}};
  EXPECT_EQ(in_words(chain),
            "rank 1 waits for b, which has ended, rank 0 waits for a, rank 3 waits for d; 1 other waits");
  EXPECT_EQ(in_words(std::vector<process_wait>(5)), "");
  std::vector<process_wait> large;
  for (std::uint32_t rank = 0; rank < 50; ++rank) large.push_back({(rank + 1) % 50, "x"});
  EXPECT_THAT(in_words(large),
              testing::AllOf(testing::StartsWith("in a circle of 50, rank 0"), testing::EndsWith("...")));
}

}  // namespace
}  // namespace lull::netsim
