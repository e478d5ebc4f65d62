// Which puts are coalesced: it depends on the past puts to a PE, and follows their changes.
#include "fabric/protocol/transforming.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace lull::fabric {
namespace {

using enum put_transformer::way;
using enum put_transformer::leaving;

class put_transformer_of_two : public testing::Test {
 protected:
  static constexpr pe_id a{0}, b{1};
  put_transformer::way put(pe_id to = a, transforming how = transforming::automatic, std::size_t bytes = 8) {
    return puts.next_put(to, bytes, how);
  }
  // `count` puts, then a quiet.
  void run(int count, pe_id to = a) {
    for (int i = 0; i < count; ++i) (void)put(to);
    puts.paused();
    puts.quieted();
  }
  put_transformer puts{2, 16384};
};

TEST_F(put_transformer_of_two, off_is_never_and_on_is_always_for_what_is_small) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(put(a, transforming::off), alone);
    EXPECT_EQ(put(b, transforming::on), coalesced);
    puts.paused();
  }
  EXPECT_EQ(put(b, transforming::on, 16384), alone);
}

TEST_F(put_transformer_of_two, puts_of_whom_nothing_is_known_are_coalesced) { EXPECT_EQ(put(), coalesced); }

TEST_F(put_transformer_of_two, puts_that_come_alone_are_no_longer_and_those_in_runs_are_again) {
  for (int i = 0; i < 20; ++i) run(1);
  EXPECT_EQ(put(), alone);
  puts.paused();
  for (int i = 0; i < 20; ++i) run(30);
  EXPECT_EQ(put(), coalesced);
}

TEST_F(put_transformer_of_two, each_pe_is_judged_by_its_own_puts) {
  for (int i = 0; i < 20; ++i) {
    run(1, a);
    run(30, b);
  }
  EXPECT_EQ(put(a), alone);
  EXPECT_EQ(put(b), coalesced);
}

TEST_F(put_transformer_of_two, another_operation_on_the_pe_ends_a_run) {
  for (int i = 0; i < 20; ++i) {
    (void)put(a);
    puts.interrupted(a);
  }
  EXPECT_EQ(put(a), alone);
}

TEST_F(put_transformer_of_two, a_put_behind_a_fence_leaves_at_once_and_the_next_does_not) {
  EXPECT_EQ(put(a), coalesced);
  puts.fenced();
  EXPECT_EQ(put(a), coalesced_and_sent);
  EXPECT_EQ(put(a), coalesced);
}

TEST_F(put_transformer_of_two, a_put_behind_a_quiet_leaves_at_once_only_when_puts_have_been_left_lying) {
  run(30);
  EXPECT_EQ(put(), coalesced);
  puts.left(a, left_lying);
  EXPECT_EQ(put(), coalesced);
  run(30);
  EXPECT_EQ(put(), coalesced_and_sent);
}

TEST_F(put_transformer_of_two, who_leaves_puts_lying_again_is_not_coalesced_for_a_while_longer_each_time) {
  const auto runs_until_coalesced = [&] {
    puts.left(a, left_lying);
    int runs = 0;
    while (put() == alone) {
      run(30);
      ++runs;
    }
    return runs;
  };
  puts.left(a, left_lying);
  const int first = runs_until_coalesced();
  EXPECT_GE(31 * first, static_cast<int>(model::transforming_costs{}.first_abstention_puts) - 62);
  EXPECT_GT(runs_until_coalesced(), first);
}

TEST_F(put_transformer_of_two, puts_that_lie_for_longer_than_they_would_take_alone_make_it_wary_and_then_abstain) {
  const auto message_ns = static_cast<std::int64_t>(model::transforming_costs{}.ns_per_message);
  const auto lay = [&](int messages, std::int64_t in_messages) {
    for (int i = 0; i < messages; ++i) {
      puts.lay(a, 2, 0);  // the data; behind it
      puts.lay(a, 1, in_messages * message_ns);
    }
    run(30);
  };
  lay(20, 1);
  EXPECT_EQ(put(), coalesced) << "what a message takes is no delay";
  lay(1, 60);
  EXPECT_EQ(put(), coalesced_and_sent);
  EXPECT_EQ(put(), coalesced);
  lay(100, 60);
  EXPECT_EQ(put(), alone);
}

TEST_F(put_transformer_of_two, one_that_has_saved_much_may_lose_its_core_now_and_then) {
  const auto message_ns = static_cast<std::int64_t>(model::transforming_costs{}.ns_per_message);
  for (int i = 0; i < 100; ++i) {
    for (int k = 0; k < 8; ++k) puts.lay(a, 1000, message_ns);
    puts.left(a, left_lying);
    EXPECT_NE(put(), alone);
    run(30);
  }
}

TEST_F(put_transformer_of_two, a_slow_stream_may_leave_by_its_deadline) {
  for (int i = 0; i < 10; ++i) puts.left(a, late);
  EXPECT_EQ(put(), coalesced);
  EXPECT_EQ(puts.counts().late, 10U);
}

TEST_F(put_transformer_of_two, what_a_message_costs_is_measured) {
  EXPECT_EQ(put(a, transforming::automatic, 4096), coalesced);
  for (int i = 0; i < 50; ++i) puts.message_took(100);
  puts.paused();
  EXPECT_EQ(put(a, transforming::automatic, 4096), alone);
  EXPECT_EQ(put(a), coalesced);
}

TEST_F(put_transformer_of_two, sources_are_copied_where_puts_have_waited_for_them) {
  EXPECT_FALSE(puts.copies(32768, transforming::automatic));
  EXPECT_FALSE(puts.copies(32768, transforming::off));
  for (int i = 0; i < 10; ++i) puts.waited_for_source(32768, 1'000'000);
  EXPECT_TRUE(puts.copies(32768, transforming::automatic));
  EXPECT_FALSE(puts.copies(100, transforming::automatic));  // of another size
  for (int i = 0; i < 50; ++i) puts.waited_for_source(32768, 0);
  EXPECT_FALSE(puts.copies(32768, transforming::automatic));
}

TEST_F(put_transformer_of_two, copies_under_way_are_bounded) {
  std::size_t bytes = 0;
  while (puts.copies(65536, transforming::on)) bytes += 65536;
  EXPECT_EQ(bytes, model::transforming_costs{}.most_copied_bytes_under_way);
  puts.copy_gone(65536);
  EXPECT_TRUE(puts.copies(65536, transforming::on));
  EXPECT_FALSE(puts.copies(65537, transforming::on));
}

// The machine as described, and as it is.
class put_transformer_on : public testing::Test {
 protected:
  static constexpr pe_id a{0};
  static constexpr model::put_costs truth{.ns_per_message = 3000, .ns_per_copied_byte = 0.2};
  static model::machine machine(double ns_per_message, double ns_per_copied_byte, bool off = false) {
    model::machine on;
    on.correction.off = off;
    on.transforming.ns_per_message = ns_per_message;
    on.transforming.ns_per_copied_byte = ns_per_copied_byte;
    return on;
  }
  // Sends `runs` runs of 20 puts, with messages and copies that take their true time, and returns for every size
  // whether it is coalesced afterwards.
  static std::vector<bool> sizes_after(int runs, const model::machine& on) {
    put_transformer puts{1, 61440, on};
    for (int run = 0; run < runs; ++run) {
      for (int i = 0; i < 20; ++i) (void)puts.next_put(a, 8, transforming::automatic);
      puts.message_took(static_cast<std::int64_t>(truth.ns_per_message));
      puts.copy_took(4096, static_cast<std::int64_t>(4096 * truth.ns_per_copied_byte));
      puts.paused();
    }
    std::vector<bool> coalesced;
    for (std::size_t bytes = 1; bytes <= 16384; bytes *= 2) {
      coalesced.push_back(puts.next_put(a, bytes, transforming::automatic) != alone);
      puts.paused();
    }
    return coalesced;
  }
};

TEST_F(put_transformer_on, a_machine_that_is_described_wrongly_comes_to_the_choices_of_the_right_one) {
  const auto right = sizes_after(20, machine(3000, 0.2));
  EXPECT_EQ(sizes_after(20, machine(300, 0.8)), right);
  EXPECT_EQ(sizes_after(20, machine(30'000, 0.05)), right);
  EXPECT_NE(sizes_after(20, machine(30, 0.8, true)), right);
}

TEST_F(put_transformer_on, without_correction_what_is_predicted_stays) {
  put_transformer puts{1, 61440, machine(3000, 0.2, true)};
  EXPECT_FALSE(puts.measures());
  EXPECT_FALSE(puts.times_copy(4096));
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(puts.next_put(a, 8, transforming::automatic), coalesced);
    puts.left(a, left_lying);
    puts.message_took(1);
    puts.waited_for_source(32768, 1'000'000);
    EXPECT_FALSE(puts.copies(32768, transforming::automatic));
    puts.paused();
  }
  EXPECT_EQ(puts.costs().ns_per_message, 3000);
}

TEST_F(put_transformer_on, choices_are_told_with_what_was_predicted_and_what_was_seen) {
  put_transformer puts{1, 61440, machine(30'000, 0.05)};
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(puts.next_put(a, 8, transforming::automatic), coalesced);
    puts.count_coalesced(8);
  }
  puts.left(a, in_time);
  for (int i = 0; i < 3; ++i) puts.message_took(3000);
  for (int i = 0; i < 10; ++i) puts.waited_for_source(32768, 1'000'000);
  ASSERT_TRUE(puts.copies(32768, transforming::automatic));
  auto all = puts.accounts();
  model::close(all);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].choice, "coalesce");
  EXPECT_EQ(all[0].alternatives[1].operations, 8U);
  EXPECT_DOUBLE_EQ(all[0].alternatives[0].predicted_ns.value(), 30'000);
  EXPECT_DOUBLE_EQ(all[0].alternatives[0].observed_ns.value(), 3000);
  EXPECT_EQ(all[0].regret_ns, 0);
  EXPECT_EQ(all[1].choice, "copy-source");
  EXPECT_EQ(all[1].where, "up to 64 KiB");
  EXPECT_EQ(all[1].switches, 1U);
  EXPECT_NEAR(all[1].regret_ns, 10 * (1e6 - 32768 * 0.05), 1);
}

}  // namespace
}  // namespace lull::fabric
