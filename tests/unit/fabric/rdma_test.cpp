// Operations by RDMA: their order with messages, their completion, and which PE is woken. Over a transport in memory
// that completes accesses at once, like shared memory, or later, like a network.
#include "fabric/protocol/rdma.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "fabric/memory_transport.hpp"
#include "fabric/protocol/protocol.hpp"

namespace lull::fabric {
namespace {

constexpr std::size_t memory_bytes = std::size_t{4} << 20U;
constexpr std::int64_t an_hour = 3'600'000'000'000;  // no small put leaves because of the time
constexpr std::size_t waits_at = memory_bytes - 64;
constexpr std::size_t least = 4096;

struct station {
  std::vector<std::byte> memory = std::vector<std::byte>(memory_bytes);
  job::shared_lock accumulating;
  outstanding sent;
  int changes = 0;
  protocol messages;
  explicit station(int pe, std::size_t least_bytes = least)
      : messages(pe_id{pe}, 2, {memory, accumulating},
                 {.memory_changed = [this] { ++changes; }, .node_memory_changed = [this] { ++changes; }},
                 [this](transport::receiver& to) {
                   return std::make_unique<transport::memory_transport>(to, 2, std::span(memory));
                 },
                 {.message_bytes = 16384, .longest_ns = an_hour}, {.waits_at = waits_at, .least_bytes = least_bytes}) {
    accumulating.open();
  }
  void await(std::size_t offset, std::size_t bytes) {
    const std::uint64_t word = wait::awaited_range(offset, bytes).word();
    std::memcpy(memory.data() + waits_at, &word, sizeof word);
  }
};

// PE 0 operates on PE 1, which does nothing unless the test drives it.
class rdma_of : public testing::TestWithParam<bool> {
 protected:
  rdma_of() {
    transport::memory_network::delays = GetParam();
    for (station* const one : {&me, &other})
      for (station* const it : {&me, &other}) one->messages.set_peer(pe_id{it == &me ? 0 : 1}, it->messages.contact());
    put(0, least);
    EXPECT_EQ(me.messages.by_rdma().puts, 0U);  // there is no connection yet
    complete();
    std::ranges::fill(other.memory, std::byte{0});
    other.changes = 0;
  }
  ~rdma_of() override { transport::memory_network::delays = false; }

  void put(std::size_t offset, std::size_t bytes, const signal_amo* signal = nullptr) {
    me.messages.put(me.sent, target, offset, data.data(), bytes, signal, nullptr, transforming::off);
  }
  void drive_me() {
    while (me.messages.progress()) {
    }
  }
  void complete() {
    std::vector<ticket> waiting;
    me.messages.tickets(me.sent, waiting);
    while (!me.messages.reached(me.sent, waiting)) {
      me.messages.progress();
      other.messages.progress();
    }
    me.messages.complete(me.sent);
  }

  station me{0}, other{1};
  const pe_id target{1};
  const std::vector<std::byte> data = std::vector<std::byte>(memory_bytes, std::byte{7});
};

TEST_P(rdma_of, large_puts_need_no_target_and_small_ones_do) {
  put(0, least);
  put(2 * least, least - 1);
  drive_me();
  EXPECT_EQ(other.memory[least - 1], std::byte{7});
  EXPECT_EQ(other.memory[2 * least], std::byte{0});
  EXPECT_EQ(other.changes, 0);
  EXPECT_EQ(me.messages.by_rdma().puts, 1U);
  complete();
  EXPECT_EQ(other.memory[2 * least], std::byte{7});
}

TEST_P(rdma_of, what_is_outstanding_may_be_overtaken) {
  put(0, least);
  EXPECT_EQ(protocol::must_complete_to_order(me.sent), GetParam());
  EXPECT_EQ(me.sent.none(), !GetParam());
  EXPECT_EQ(me.messages.all_complete(), !GetParam());
  complete();
  EXPECT_FALSE(protocol::must_complete_to_order(me.sent));
  EXPECT_TRUE(me.sent.none());
  EXPECT_TRUE(me.messages.all_complete());
}

TEST_P(rdma_of, the_source_is_free_when_it_has_been_read) {
  std::atomic<bool> sent{false};
  me.messages.put(me.sent, target, 0, data.data(), least, nullptr, &sent, transforming::off);
  EXPECT_EQ(sent.load(), !GetParam());
  drive_me();
  EXPECT_TRUE(sent.load());
  complete();
}

TEST_P(rdma_of, a_put_behind_a_fence_does_not_overtake_messages) {
  put(0, 8);
  me.messages.fenced(me.sent);
  put(least, least);
  drive_me();
  EXPECT_EQ(other.memory[least], std::byte{0});
  EXPECT_EQ(me.messages.by_rdma().puts, 0U);
  complete();
  EXPECT_EQ(other.memory[least], std::byte{7});
  put(least, least);
  EXPECT_EQ(me.messages.by_rdma().puts, 1U);
  complete();
}

TEST_P(rdma_of, a_put_beside_messages_may_overtake_them) {
  put(0, 8);
  put(least, least);
  drive_me();
  EXPECT_EQ(other.memory[0], std::byte{0});
  EXPECT_EQ(other.memory[least], std::byte{7});
  complete();
}

TEST_P(rdma_of, nobody_is_woken_who_computes_or_waits_for_something_else) {
  put(0, least);
  other.await(8 * least, 8);
  put(0, least);
  drive_me();
  while (other.messages.progress()) {
  }
  EXPECT_EQ(other.changes, 0);
  EXPECT_EQ(me.messages.by_rdma().puts, 2U);
  EXPECT_EQ(me.messages.by_rdma().rings, 0U);
  complete();
}

TEST_P(rdma_of, who_waits_for_it_is_woken_when_it_is_there) {
  other.await(least, 8);
  put(0, 2 * least);
  EXPECT_EQ(other.changes, 0);
  drive_me();
  while (other.messages.progress()) EXPECT_EQ(other.memory[2 * least - 1], std::byte{7});
  EXPECT_EQ(other.changes, 1);
  EXPECT_EQ(me.messages.by_rdma().rings, 1U);
  complete();
}

TEST_P(rdma_of, puts_begun_while_a_look_is_under_way_share_the_next) {
  other.await(0, 8);
  for (int i = 0; i < 10; ++i) put(0, least);
  complete();
  EXPECT_EQ(me.messages.by_rdma().rings, GetParam() ? 2U : 10U);
}

TEST_P(rdma_of, a_signal_comes_after_its_data_and_rings_itself) {
  other.await(0, memory_bytes);
  const signal_amo then{.offset = 3 * least, .value = 9, .how = amo_op::set};
  put(0, least, &then);
  drive_me();
  while (other.messages.progress()) EXPECT_EQ(other.memory[least - 1], std::byte{7});
  EXPECT_EQ(other.memory[3 * least], std::byte{9});
  EXPECT_EQ(me.messages.by_rdma().rings, 0U);
  complete();
}

TEST_P(rdma_of, quiet_waits_for_a_signal_that_has_not_left) {
  const signal_amo then{.offset = 3 * least, .value = 9, .how = amo_op::set};
  put(0, least, &then);
  complete();
  EXPECT_EQ(other.memory[3 * least], std::byte{9});
  EXPECT_TRUE(me.sent.none());
}

TEST_P(rdma_of, gets_bring_what_is_there_without_the_target) {
  std::fill_n(other.memory.begin(), memory_bytes / 2, std::byte{5});
  std::vector<std::byte> here(3 << 20), there(least);
  me.messages.get_nbi(me.sent, target, 0, there.data(), there.size());
  reply answer{.destination = here.data(), .bytes = 2 << 20};
  me.messages.get(target, 0, answer);
  drive_me();
  EXPECT_TRUE(answer.done.done());
  EXPECT_EQ(here[(2 << 20) - 1], std::byte{5});
  EXPECT_EQ(there[least - 1], std::byte{5});
  EXPECT_FALSE(protocol::must_complete_to_order(me.sent));  // a fence has nothing to order
  complete();
}

TEST_P(rdma_of, a_get_does_not_overtake_a_message) {
  put(0, 8);
  std::vector<std::byte> here(least);
  reply answer{.destination = here.data(), .bytes = least};
  me.messages.get(target, 0, answer);
  drive_me();
  EXPECT_FALSE(answer.done.done());
  while (!answer.done.done()) me.messages.progress(), other.messages.progress();
  EXPECT_EQ(here[0], std::byte{7});
  complete();
}

TEST_P(rdma_of, what_lies_beyond_the_exposed_memory_goes_by_message) {
  EXPECT_FALSE(me.messages.remote_memory()->bytes() > memory_bytes);
  std::vector<std::byte> here(least);
  reply answer{.destination = here.data(), .bytes = least};
  me.messages.get(target, memory_bytes - least, answer);  // the last exposed bytes
  drive_me();
  EXPECT_TRUE(answer.done.done());
}

INSTANTIATE_TEST_SUITE_P(network, rdma_of, testing::Values(false, true),
                         [](const auto& one) { return one.param ? "later" : "at_once"; });

class atomics_by_rdma : public rdma_of {};

TEST_P(atomics_by_rdma, are_carried_out_where_this_processor_does_it) {
  const std::uint64_t first = 40;
  std::memcpy(other.memory.data() + 8, &first, sizeof first);
  const auto fetch = [&](const amo& u) {
    std::uint64_t old = 0;
    reply answer{.destination = &old, .bytes = 8};
    me.messages.fetching(target, u, answer);
    while (!answer.done.done()) me.messages.progress(), other.messages.progress();
    return old;
  };
  EXPECT_EQ(fetch({amo_op::add, 8, 8, 2}), 40U);
  EXPECT_EQ(fetch({amo_op::compare_swap, 8, 8, 50, 41}), 42U);
  EXPECT_EQ(fetch({amo_op::compare_swap, 8, 8, 50, 42}), 42U);
  EXPECT_EQ(fetch({amo_op::fetch, 8, 8}), 50U);
  EXPECT_EQ(fetch({amo_op::max, 8, 8, 60}), 50U);
  EXPECT_EQ(fetch({amo_op::bit_or, 8, 8, 0}), 60U);
  EXPECT_EQ(fetch({amo_op::set, 8, 8, 1}), 60U);
  EXPECT_EQ(me.messages.by_rdma().atomics,
            GetParam() ? 0U : 5U);  // no network has the maximum, and UCX's bitwise operations are wrong
}

INSTANTIATE_TEST_SUITE_P(network, atomics_by_rdma, testing::Values(false, true),
                         [](const auto& one) { return one.param ? "later" : "at_once"; });

// The time until such an operation is complete is not this process's: it does something else meanwhile.
TEST(rdma_costs, an_operation_that_completes_late_costs_the_calls_that_begin_it) {
  constexpr std::int64_t call_ns = 100'000;
  constexpr std::size_t bytes = std::size_t{64} << 10U;
  transport::memory_network::delays = true;
  station me{0, 0}, other{1, 0};
  for (station* const one : {&me, &other})
    for (station* const it : {&me, &other}) one->messages.set_peer(pe_id{it == &me ? 0 : 1}, it->messages.contact());
  const std::vector<std::byte> data(bytes);
  const auto put = [&] {
    me.messages.put(me.sent, pe_id{1}, 0, data.data(), bytes, nullptr, nullptr, transforming::off);
    std::vector<ticket> waiting;
    me.messages.tickets(me.sent, waiting);
    while (!me.messages.reached(me.sent, waiting)) {
      me.messages.progress();
      other.messages.progress();
    }
    me.messages.complete(me.sent);
  };
  put();  // connects
  transport::memory_network::call_ns = call_ns;
  for (int i = 0; i < 64; ++i) put();
  transport::memory_network::call_ns = 0;
  transport::memory_network::delays = false;
  EXPECT_GE(me.messages.by_rdma().puts, 16U);  // one of 16 is timed: it costs more than the copy that it saves
  EXPECT_LT(me.messages.by_rdma().puts, 64U);
  const auto all = me.messages.choices(false);
  const auto puts = std::ranges::find(all, std::string("rdma-put"), &model::choice_account::choice);
  ASSERT_NE(puts, all.end());
  const auto& by_rdma = puts->alternatives.at(1);
  EXPECT_LT(by_rdma.predicted_ns, 3 * call_ns);
  EXPECT_GE(by_rdma.corrected_ns, 3 * call_ns);  // of the put, the flush and the look
}

}  // namespace
}  // namespace lull::fabric
