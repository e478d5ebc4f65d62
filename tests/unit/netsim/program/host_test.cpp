// A node does what is due in the order of time, in whatever order the network notifies it.
#include "netsim/program/host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

namespace lull::netsim {
namespace {

using testing::ElementsAre;

// Records its notifications.
class told final : public host::listener {
 public:
  std::vector<std::string> log;
  mutable std::vector<std::string> taken;  // including the question for the next
  bool waits = true;                       // for any arrival
  host here{*this};

  void will_have_sent(std::uint32_t label, picoseconds at) override {
    here.note_completion({.rank = 1, .activity = 2, .slot = label}, at);
  }
  void will_have_arrived(std::uint32_t label, picoseconds at) override {
    if (label != first_part) here.note_arrival(label, at);
  }
  void takes(std::uint32_t label, std::uint32_t next) const override {
    taken.push_back(fmt::format("{} {}", label, next));
  }
  [[nodiscard]] bool wants_arrival(std::uint32_t /*label*/) const override { return waits; }
  void completed(const completion& what, picoseconds now) override {
    log.push_back(fmt::format("completed {} {} {} at {}", what.rank, what.activity, what.slot, now));
  }
  void has_arrived(std::uint32_t label, picoseconds now) override {
    log.push_back(fmt::format("arrived {} at {}", label, now));
    if (label == resuming) here.note_resume(7, 1, now);  // at once
  }
  void resume(std::uint32_t rank, std::uint32_t activity, picoseconds now) override {
    log.push_back(fmt::format("resume {} {} at {}", rank, activity, now));
  }

  static constexpr std::uint32_t resuming = 100;
  static constexpr std::uint32_t first_part = 101;  // of a message that has not arrived completely
};

TEST(a_host, begins_when_its_processes_do) {
  told t;
  t.here.begin(50, 3);
  t.here.begin(50, 4);
  EXPECT_EQ(t.here.first_computed(), 50);
  EXPECT_EQ(t.here.computed(50), never);
  EXPECT_THAT(t.log, ElementsAre("resume 3 0 at 50", "resume 4 0 at 50"));
  EXPECT_TRUE(t.here.idle());
}

TEST(a_host, does_in_order_of_time_what_it_hears_of_out_of_order) {
  told t;
  EXPECT_EQ(t.here.arrived(1, 300), 300);
  EXPECT_EQ(t.here.arrived(2, 100), 100);
  EXPECT_EQ(t.here.arrived(3, 200), never);
  EXPECT_EQ(t.here.arrived(4, 100), never);
  EXPECT_EQ(t.here.computed(50), never);  // nothing is due
  EXPECT_THAT(t.log, ElementsAre());
  EXPECT_EQ(t.here.computed(100), 200);
  EXPECT_EQ(t.here.computed(200), 300);
  EXPECT_EQ(t.here.computed(300), never);
  EXPECT_EQ(t.here.computed(300), never);  // the call requested first
  EXPECT_THAT(t.log, ElementsAre("arrived 2 at 100", "arrived 4 at 100", "arrived 3 at 200", "arrived 1 at 300"));
}

TEST(a_host, asks_to_be_called_only_for_what_is_waited_for_and_does_the_rest_then_in_its_turn) {
  told t;
  t.waits = false;
  EXPECT_EQ(t.here.arrived(1, 100), never);
  EXPECT_EQ(t.here.arrived(2, 50), never);
  EXPECT_TRUE(t.here.idle());
  t.waits = true;
  EXPECT_FALSE(t.here.idle());
  EXPECT_EQ(t.here.arrived(3, 200), 200);
  EXPECT_EQ(t.here.arrived(told::first_part, 20), never);
  t.waits = false;
  EXPECT_EQ(t.here.computed(200), never);
  EXPECT_THAT(t.log, ElementsAre("arrived 2 at 50", "arrived 1 at 100", "arrived 3 at 200"));
}

TEST(a_host, asks_to_be_called_when_what_has_come_begins_to_be_waited_for) {
  told t;
  t.waits = false;
  t.here.begin(10, 3);
  EXPECT_EQ(t.here.arrived(1, 100), never);
  t.waits = true;  // as if by the resumed process
  EXPECT_EQ(t.here.computed(10), 100);
}

TEST(a_host, does_at_once_what_becomes_due_at_once) {
  told t;
  (void)t.here.arrived(told::resuming, 10);
  (void)t.here.arrived(5, 10);
  EXPECT_EQ(t.here.computed(10), never);
  EXPECT_THAT(t.log, ElementsAre("arrived 100 at 10", "arrived 5 at 10", "resume 7 1 at 10"));
}

TEST(a_host, offers_messages_in_order_and_knows_which_was_sent) {
  told t;
  EXPECT_EQ(t.here.next_at(), never);
  for (std::uint32_t i = 0; i < 200; ++i)
    t.here.offer({.created = 10 * i, .to = 1, .bytes = 8, .left = 8, .label = i, .job = 0});
  EXPECT_EQ(t.here.waiting_bytes(45, 1000), 40);
  EXPECT_EQ(t.here.waiting_bytes(1'000'000, 100), 104);
  for (std::uint32_t i = 0; i < 200; ++i) {
    EXPECT_EQ(t.here.next_at(), 10 * i);
    EXPECT_EQ(t.here.take().label, i);
    EXPECT_EQ(t.here.sent(10'000 + i), i == 0 ? 10'000 : never);
  }
  EXPECT_EQ(t.here.next_at(), never);
  (void)t.here.computed(10'001);
  EXPECT_THAT(t.log, ElementsAre("completed 1 2 0 at 10000", "completed 1 2 1 at 10001"));
}

TEST(a_host, says_which_message_is_taken_and_which_comes_next) {
  told t;
  for (const std::uint32_t label : {7U, 9U})
    t.here.offer({.created = 0, .to = 1, .bytes = 8, .left = 8, .label = label, .job = 0});
  (void)t.here.take();
  (void)t.here.take();
  EXPECT_THAT(t.taken, ElementsAre("7 9", "9 9"));
}

}  // namespace
}  // namespace lull::netsim
