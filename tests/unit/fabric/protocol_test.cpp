// Operations on PEs of other nodes, with all PEs of the job in one process: over the loopback by UCX and by providers of
// libfabric, and over a transport in memory.
#include "fabric/protocol/protocol.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <functional>
#include <optional>

#include "base/error.hpp"
#include "fabric/memory/symmetric_memory.hpp"
#include "fabric/memory_transport.hpp"
#include "fabric/protocol/progress_thread.hpp"
#include "fabric/transfers/transfers.hpp"
#include "surroundings.hpp"
#include "transport/libfabric/libfabric.hpp"
#include "transport/ucx/ucx.hpp"

namespace lull::fabric {
namespace {

constexpr std::size_t memory_bytes = std::size_t{4} << 20U;
constexpr std::int64_t an_hour = 3'600'000'000'000;  // no small put leaves because of the time
constexpr std::int64_t a_millisecond = 1'000'000;
constexpr std::size_t large = std::size_t{1} << 20U;  // from this size on both transports let messages be overtaken

using maker = std::unique_ptr<transport::transport> (*)(transport::receiver& to, int processes, int me);
transport::options on_this_host(int processes, int me) {
  return {.processes = processes, .me = me, .one_host = true, .emulated = true};
}
std::unique_ptr<transport::transport> over_ucx(transport::receiver& to, int processes, int me) {
  return transport::make_ucx(to, on_this_host(processes, me));
}
std::unique_ptr<transport::transport> in_memory(transport::receiver& to, int processes, int /*me*/) {
  return std::make_unique<transport::memory_transport>(to, processes);
}
struct of_tcp {
  static constexpr const char* name = "tcp";
};
struct of_shm {
  static constexpr const char* name = "shm";
};
template <class Provider>
std::unique_ptr<transport::transport> over_libfabric(transport::receiver& to, int processes, int me) {
  setenv("LULL_LIBFABRIC_PROVIDER", Provider::name, 1);
  return transport::make_libfabric(to, on_this_host(processes, me));
}

struct station {
  std::vector<std::byte> memory = std::vector<std::byte>(memory_bytes);
  job::shared_lock accumulating;
  outstanding sent;
  std::function<void()> changed = [] {};
  protocol messages;
  station(int pe, int pes, maker over, std::int64_t longest_ns = an_hour)
      : messages(pe_id{pe}, pes, {memory, accumulating},
                 {.memory_changed = [this] { changed(); }, .node_memory_changed = [] {}},
                 [=](transport::receiver& to) { return over(to, pes, pe); },
                 {.message_bytes = 16384, .longest_ns = longest_ns}) {
    accumulating.open();
  }
};

class job_of_three {
 public:
  static constexpr int pes = 3;
  explicit job_of_three(maker over, std::int64_t longest_ns = an_hour) {
    for (int pe = 0; pe < pes; ++pe) stations_.emplace_back(pe, pes, over, longest_ns);
    for (station& one : stations_)
      for (int pe = 0; pe < pes; ++pe)
        one.messages.set_peer(pe_id{pe}, stations_[static_cast<std::size_t>(pe)].messages.contact());
  }
  job_of_three(const job_of_three&) = delete;
  job_of_three& operator=(const job_of_three&) = delete;
  ~job_of_three() {
    for (station& one : stations_) one.messages.disconnect();
  }
  station& operator[](std::size_t pe) { return stations_[pe]; }
  bool drive() {
    bool any = false;
    for (station& one : stations_) any = one.messages.progress() || any;
    also_drive();
    return any;
  }
  void drive_until(const std::function<bool()>& ready) {
    while (!ready()) drive();
  }
  void complete(station& one) {
    std::vector<ticket> waiting;
    one.messages.tickets(one.sent, waiting);
    drive_until([&] { return one.messages.reached(one.sent, waiting); });
    one.messages.complete(one.sent);
  }
  std::function<void()> also_drive = [] {};

 private:
  std::deque<station> stations_;
};

class protocol_over : public testing::TestWithParam<std::pair<const char*, maker>> {
 protected:
  job_of_three job{GetParam().second};
};

TEST_P(protocol_over, a_pe_is_connected_only_to_those_it_talks_to) {
  for (std::size_t pe = 0; pe < 3; ++pe) EXPECT_EQ(job[pe].messages.connections(), 0);
  const std::uint64_t value = 42;
  job[0].messages.put(job[0].sent, pe_id{2}, 64, &value, sizeof value, nullptr, nullptr);
  job.complete(job[0]);
  EXPECT_EQ(std::memcmp(job[2].memory.data() + 64, &value, sizeof value), 0);
  EXPECT_EQ(job[0].messages.connections(), 1);
  EXPECT_EQ(job[1].messages.connections(), 0);
  EXPECT_EQ(job[2].messages.connections(), 1);  // for its acknowledgement
}

TEST_P(protocol_over, what_another_build_says_of_itself_is_not_read_beyond_its_end) {
  const std::vector<std::byte> whole = job[1].messages.contact();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{15}}) {
    if (GetParam().second == &in_memory && bytes >= 8) continue;  // its address is no more than a pointer
    EXPECT_THROW(job[0].messages.set_peer(pe_id{1}, std::span(whole).first(bytes)), error) << bytes;
  }
  job[0].messages.set_peer(pe_id{1}, whole);
}

TEST_P(protocol_over, what_is_large_may_be_overtaken_and_nothing_else) {
  const std::vector<std::byte> data(2 * large, std::byte{1});
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{4096}, large - 1}) {
    job[0].messages.put(job[0].sent, pe_id{1}, 0, data.data(), bytes, nullptr, nullptr);
    EXPECT_FALSE(protocol::must_complete_to_order(job[0].sent)) << bytes;
  }
  job[0].messages.put(job[0].sent, pe_id{1}, 0, data.data(), large, nullptr, nullptr);
  EXPECT_TRUE(protocol::must_complete_to_order(job[0].sent));
  job.complete(job[0]);
  EXPECT_FALSE(protocol::must_complete_to_order(job[0].sent));
}

TEST_P(protocol_over, atomics_and_gets_bring_what_was_there_before) {
  const std::uint64_t first = 40;
  std::memcpy(job[1].memory.data() + 8, &first, sizeof first);
  std::uint64_t old = 0, now = 0;
  reply of_fetch{.destination = &old, .bytes = 8};
  job[0].messages.fetching(pe_id{1}, {amo_op::add, 8, 8, 2}, of_fetch);
  job.drive_until([&] { return of_fetch.done.done(); });
  EXPECT_EQ(old, 40U);
  job[2].messages.get_nbi(job[2].sent, pe_id{1}, 8, &now, sizeof now);
  job.complete(job[2]);
  EXPECT_EQ(now, 42U);
}

TEST_P(protocol_over, small_puts_wait_for_each_other_and_go_before_anything_else) {
  for (std::uint64_t i = 0; i < 10; ++i)
    job[0].messages.put(job[0].sent, pe_id{1}, 8 * i, &i, sizeof i, nullptr, nullptr);
  for (int round = 0; round < 10; ++round) job.drive();
  EXPECT_EQ(job[0].messages.connections(), 0);  // nothing has left
  std::uint64_t last = 0;
  reply answer{.destination = &last, .bytes = 8};
  job[0].messages.get(pe_id{1}, 72, answer);
  job.drive_until([&] { return answer.done.done(); });
  EXPECT_EQ(last, 9U);
}

TEST_P(protocol_over, coalesced_puts_may_reuse_their_sources_and_arrive_as_put) {
  std::array<std::uint32_t, 6> words{};
  std::atomic<bool> sent{false};
  // Adjacent puts, then one of them again, then a separate, unaligned one.
  for (const auto& [offset, value] : std::vector<std::pair<std::size_t, std::uint32_t>>{
           {64, 1}, {68, 2}, {72, 3}, {68, 4}, {72, 5}, {99, 6}, {103, 7}}) {
    std::uint32_t source = value;
    sent = false;
    job[0].messages.put(job[0].sent, pe_id{1}, offset, &source, sizeof source, nullptr, &sent, transforming::on);
    EXPECT_TRUE(sent);
    source = 0xEEEEEEEE;
  }
  EXPECT_EQ(job[0].messages.connections(), 0);  // nothing has left
  job.complete(job[0]);
  for (std::size_t i = 0; const std::size_t offset : {64U, 68U, 72U, 99U, 103U, 107U})
    std::memcpy(&words[i++], job[1].memory.data() + offset, 4);
  EXPECT_EQ(words, (std::array<std::uint32_t, 6>{1, 4, 5, 6, 7, 0}));
  EXPECT_EQ(job[0].messages.transformed().coalesced_puts, 7U);
  EXPECT_EQ(job[0].messages.transformed().messages, 1U);
}

// Random puts in an order in which each may overwrite others: columns in both directions, adjacent and single ones.
TEST_P(protocol_over, coalesced_puts_arrive_as_if_each_had_been_applied_in_turn) {
  std::mt19937_64 random(7);
  std::vector<std::byte> expected(job[1].memory.begin(), job[1].memory.end());
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  const auto size = static_cast<std::int64_t>(expected.size());
  std::uint64_t puts = 0;
  for (int column = 0; column < 300; ++column) {
    const std::int64_t bytes = below(4) == 0 ? 1 + below(70) : 8, stride = below(3) == 0 ? bytes : below(200) - 100;
    std::int64_t offset = below(static_cast<std::uint64_t>(size));
    for (std::int64_t k = below(9); k >= 0; --k, offset += stride) {
      if (offset < 0 || offset + bytes > size) break;
      std::vector<std::byte> source(static_cast<std::size_t>(bytes));
      for (std::byte& b : source) b = static_cast<std::byte>(below(256));
      std::ranges::copy(source, expected.begin() + offset);
      std::atomic<bool> sent{false};
      job[0].messages.put(job[0].sent, pe_id{1}, static_cast<std::size_t>(offset), source.data(), source.size(),
                          nullptr, &sent, transforming::on);
      ++puts;
    }
    if (column % 50 == 49) job.complete(job[0]);
  }
  job.complete(job[0]);
  EXPECT_TRUE(std::ranges::equal(expected, job[1].memory));
  EXPECT_EQ(job[0].messages.transformed().coalesced_puts, puts);
}

TEST_P(protocol_over, a_put_behind_a_fence_takes_all_before_it_along) {
  const std::uint64_t value = 9;
  std::atomic<bool> sent{false};
  for (const std::size_t offset : {8, 16})
    job[0].messages.put(job[0].sent, pe_id{1}, offset, &value, 8, nullptr, &sent, transforming::on);
  job[0].messages.fenced(job[0].sent);
  EXPECT_EQ(job[0].messages.transformed().messages, 0U);
  job[0].messages.put(job[0].sent, pe_id{1}, 24, &value, 8, nullptr, &sent, transforming::on);
  EXPECT_EQ(job[0].messages.transformed().messages, 1U);
  job.drive_until([&] { return job[1].memory[24] == std::byte{9}; });
  EXPECT_EQ(job[1].memory[16], std::byte{9});
  job.complete(job[0]);
}

TEST_P(protocol_over, puts_that_are_left_lying_leave_by_their_deadline) {
  job_of_three soon{GetParam().second, a_millisecond};
  const std::uint64_t value = 9;
  std::atomic<bool> sent{false};
  soon[0].messages.put(soon[0].sent, pe_id{1}, 8, &value, 8, nullptr, &sent, transforming::on);
  soon.drive_until([&] { return soon[1].memory[8] == std::byte{9}; });
  EXPECT_EQ(soon[0].messages.transformed().late, 1U);
  soon.complete(soon[0]);
}

TEST_P(protocol_over, who_computes_behind_its_puts_is_soon_not_held_up) {
  job_of_three soon{GetParam().second, a_millisecond};
  const std::uint64_t value = 9;
  std::atomic<bool> sent{false};
  for (int run = 0; run < 20; ++run) {
    for (std::size_t i = 0; i < 100; ++i)
      soon[0].messages.put(soon[0].sent, pe_id{1}, 8 * i, &value, 8, nullptr, &sent);
    soon.drive_until([&] { return soon[0].messages.all_complete(); });
    soon[0].messages.flush();
  }
  EXPECT_LE(soon[0].messages.transformed().late, 3U);
  soon.complete(soon[0]);
}

TEST_P(protocol_over, copied_sources_may_be_reused_at_once) {
  std::vector<std::byte> source(60'000, std::byte{3});
  for (std::size_t i = 0; i < 4; ++i) {
    std::atomic<bool> sent{false};
    job[0].messages.put(job[0].sent, pe_id{1}, i * source.size(), source.data(), source.size(), nullptr, &sent,
                        transforming::on);
    EXPECT_TRUE(sent);
    std::ranges::fill(source, static_cast<std::byte>(4 + i));
  }
  job.complete(job[0]);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(job[1].memory[(i + 1) * source.size() - 1], static_cast<std::byte>(3 + i));
  EXPECT_EQ(job[0].messages.transformed().copied_puts, 4U);
}

TEST_P(protocol_over, blocks_are_scattered_added_and_gathered) {
  block_descriptor there{};
  there.levels = 1;
  there.counts = {4, 3};
  there.strides = {16};
  const std::array<float, 3> some{1, 2, 3};
  for (const bool adds : {false, true}) {
    auto message = protocol::room_for_blocks(there, sizeof some);
    std::memcpy(message.packed(), some.data(), sizeof some);
    axpy twice{number::float_, {}};
    const float factor = 2;
    std::memcpy(twice.factor.data(), &factor, sizeof factor);
    job[0].messages.scatter(job[0].sent, pe_id{1}, 32, 0, 3, std::move(message), adds ? &twice : nullptr);
  }
  job.complete(job[0]);
  std::array<float, 3> back{};
  block_descriptor packed{};
  packed.levels = 1;
  packed.counts = {4, 3};
  packed.strides = {4};
  reply answer{.destination = back.data(), .bytes = sizeof back, .blocks = &packed, .first = 0, .count = 3};
  job[2].messages.gather(pe_id{1}, 32, there, 0, 3, answer);
  job.drive_until([&] { return answer.done.done(); });
  EXPECT_EQ(back, (std::array<float, 3>{3, 6, 9}));
}

// A client that is no PE of the job: it has a PE's address and knows the form of the messages.
class stranger final : transport::receiver {
 public:
  stranger(maker over, const std::vector<std::byte>& contact) : transport_(over(*this, 1, 0)) {
    transport_->set_address(0, std::span(contact).subspan(sizeof(std::uint64_t)));
  }
  stranger(const stranger&) = delete;
  stranger& operator=(const stranger&) = delete;
  ~stranger() { transport_->disconnect(); }
  template <class Header>
  void send(message_kind kind, const Header& header, const std::vector<std::byte>& data, transport::order order) {
    message& m = sent_.emplace_back();  // the transport reads it until it is sent
    m.header.resize(sizeof header);
    std::memcpy(m.header.data(), &header, sizeof header);
    m.data = data;
    transport_->send(0, static_cast<unsigned>(kind), m, m.header, m.data.data(), m.data.size(), order);
  }
  void drive() { transport_->progress(); }

 private:
  struct message final : transport::outgoing {
    std::vector<std::byte> header, data;
    void sent() override {}
    [[noreturn]] void lost(const char* why) override { throw error("send as a stranger", why); }
  };
  void received(unsigned, std::span<const std::byte>, const transport::incoming&) override { ADD_FAILURE(); }
  std::deque<message> sent_;
  std::unique_ptr<transport::transport> transport_;
};

TEST_P(protocol_over, a_message_of_a_process_that_is_no_pe_changes_nothing) {
  station& target = job[1];
  const std::vector<std::byte> before = target.memory, data(2 * large, std::byte{0xEE});
  const std::vector<std::byte> some(data.begin(), data.begin() + 4096);
  stranger intruder(GetParam().second, target.messages.contact());
  job.also_drive = [&] { intruder.drive(); };
  const envelope guessed{0x1234, 0}, none{0, 2};
  std::uint64_t sent = 0;
  using enum transport::order;
  for (const envelope& sender : {guessed, none}) {
    put_header put{};
    put.sent = sender;
    intruder.send(message_kind::put, put, some, kept);
    intruder.send(message_kind::put, put, data, free);
    intruder.send(message_kind::coalesced, coalesced_header{sender}, some, kept);
    intruder.send(message_kind::amo, amo_header{sender, amo_op::add, 8, 0, 1, 0, 0}, {}, kept);
    intruder.send(message_kind::get, get_header{sender, 0, 4096, 1}, {}, kept);
    intruder.send(message_kind::reply, reply_header{sender, 0xDEADBEEF}, some, kept);
    intruder.send(message_kind::acknowledge, acknowledge_header{sender, 1'000'000}, {}, kept);
    intruder.send(message_kind::ring, ring_header{sender}, {}, kept);
    sent += 8;
  }
  intruder.send(message_kind::put, std::uint8_t{0}, some, kept);  // not even an envelope
  ++sent;
  job.drive_until([&] { return target.messages.refused() == sent; });
  EXPECT_EQ(target.memory, before);
  EXPECT_EQ(target.messages.connections(), 0);  // it got no answer either

  const std::uint64_t value = 7;  // and the job goes on
  job[0].messages.put(job[0].sent, pe_id{1}, 8, &value, sizeof value, nullptr, nullptr);
  job.complete(job[0]);
  EXPECT_EQ(std::memcmp(target.memory.data() + 8, &value, sizeof value), 0);
}

constexpr auto name_of_transport = [](const auto& one) { return std::string(one.param.first); };
INSTANTIATE_TEST_SUITE_P(transports, protocol_over,
                         testing::Values(std::pair{"ucx", &over_ucx}, std::pair{"memory", &in_memory}),
                         name_of_transport);
INSTANTIATE_TEST_SUITE_P(libfabric, protocol_over,
                         testing::Values(std::pair{"tcp", &over_libfabric<of_tcp>},
                                         std::pair{"shm", &over_libfabric<of_shm>}),
                         name_of_transport);

// With a transport in memory, the test decides when a large payload arrives.
class overtaken_puts : public testing::Test {
 protected:
  overtaken_puts() { transport::memory_transport::holds_back = true; }
  ~overtaken_puts() override { transport::memory_transport::holds_back = false; }
  void drain() {
    for (int round = 0; round < 100; ++round) job.drive();
  }
  job_of_three job{in_memory};
  const std::vector<std::byte> data = std::vector<std::byte>(large, std::byte{5});
  const std::uint64_t flag = 1;
};

TEST_F(overtaken_puts, a_later_message_is_applied_before_them) {
  job[0].messages.put(job[0].sent, pe_id{1}, 64, data.data(), large, nullptr, nullptr);
  std::atomic<bool> gone{false};
  job[0].messages.put(job[0].sent, pe_id{1}, 0, &flag, sizeof flag, nullptr, &gone, transforming::off);
  drain();
  EXPECT_EQ(job[1].memory[0], std::byte{1});
  EXPECT_EQ(job[1].memory[64], std::byte{0});
}

TEST_F(overtaken_puts, nothing_sent_after_them_is_acknowledged_before) {
  job[0].messages.put(job[0].sent, pe_id{1}, 64, data.data(), large, nullptr, nullptr);
  std::atomic<bool> gone{false};
  job[0].messages.put(job[0].sent, pe_id{1}, 0, &flag, sizeof flag, nullptr, &gone, transforming::off);
  drain();
  EXPECT_EQ(job[0].messages.under_way(pe_id{1}), 2U);
  EXPECT_FALSE(job[0].messages.all_complete());
  transport::memory_transport::holds_back = false;
  job.complete(job[0]);
  EXPECT_TRUE(job[0].messages.all_complete());
  EXPECT_EQ(job[1].memory[64], std::byte{5});
}

TEST_F(overtaken_puts, their_signal_comes_after_their_data) {
  const signal_amo then{.offset = 0, .value = 9, .how = amo_op::set};
  job[0].messages.put(job[0].sent, pe_id{1}, 64, data.data(), large, &then, nullptr);
  drain();
  EXPECT_EQ(job[1].memory[0], std::byte{0});
  transport::memory_transport::holds_back = false;
  job.complete(job[0]);
  EXPECT_EQ(job[1].memory[0], std::byte{9});
  EXPECT_EQ(job[1].memory[64], std::byte{5});
}

class transport_that_misses_events : public testing::Test {
 protected:
  transport_that_misses_events() { transport::memory_transport::misses_events = true; }
  ~transport_that_misses_events() override { transport::memory_transport::misses_events = false; }
  job_of_three job{in_memory};
};

TEST_F(transport_that_misses_events, lets_no_pe_sleep_over_a_message) {
  const std::uint64_t value = 42;
  job[0].messages.put(job[0].sent, pe_id{1}, 64, &value, sizeof value, nullptr, nullptr, transforming::off);
  EXPECT_FALSE(job[1].messages.arm());
  EXPECT_EQ(std::memcmp(job[1].memory.data() + 64, &value, sizeof value), 0);
  EXPECT_FALSE(job[0].messages.arm());  // the acknowledgement, which left without another progress()
  EXPECT_TRUE(job[0].messages.all_complete());
  EXPECT_TRUE(job[0].messages.arm());
  EXPECT_TRUE(job[1].messages.arm());
}

class ucx_threshold : public testing::TestWithParam<const char*> {};

TEST_P(ucx_threshold, is_that_of_ucx) {
  setenv("UCX_RNDV_THRESH", GetParam(), 1);
  station here{0, 1, over_ucx};
  unsetenv("UCX_RNDV_THRESH");
  here.messages.set_peer(pe_id{0}, here.messages.contact());
  const std::vector<std::byte> data(std::size_t{64} << 10U, std::byte{1});
  const auto overtakable_at = [&](std::size_t bytes) {
    here.messages.put(here.sent, pe_id{0}, 0, data.data(), bytes, nullptr, nullptr);
    const bool answer = protocol::must_complete_to_order(here.sent);
    std::vector<ticket> waiting;
    here.messages.tickets(here.sent, waiting);
    while (!here.messages.reached(here.sent, waiting)) here.messages.progress();
    here.messages.complete(here.sent);
    return answer;
  };
  const bool small = std::string(GetParam()) == "8k";
  EXPECT_EQ(overtakable_at(64 << 10), small);
  EXPECT_EQ(overtakable_at(8 << 10), small);
  EXPECT_FALSE(overtakable_at((8 << 10) - 1));
  EXPECT_EQ(std::count(here.memory.begin(), here.memory.end(), std::byte{1}), 64 << 10);
  here.messages.disconnect();
}

INSTANTIATE_TEST_SUITE_P(settings, ucx_threshold, testing::Values("8k", "auto", "inf"));

class transfers_with_few_outstanding : public settings_by_default {
 protected:
  static constexpr std::uint64_t most = 4;
  static constexpr std::size_t words = 1000;
  const bool is_set = (set("LULL_MAX_OUTSTANDING", "4"), true);
  job_of_three job{over_ucx};
  symmetric_memory memory{pe_id{0}, job_of_three::pes, 0};
  progress_thread there{job[1].messages, false, 1}, here{job[0].messages, false, 1};
  wait::waiting waits{memory.bell_of(pe_id{0}), &here, {.alone = true}};
  transfers moving{pe_id{0}, memory, waits, &job[0].messages, &here, false};
  context of;
  std::uint64_t* const source = static_cast<std::uint64_t*>(memory.allocate(words * sizeof(std::uint64_t)));
  std::vector<std::uint64_t> got = std::vector<std::uint64_t>(words);

  transfers_with_few_outstanding() {
    job[0].changed = [this] {
      memory.bell_of(pe_id{0}).ring_for_store();
      here.wake_sleeper();
    };
    for (std::uint64_t i = 0; i < words; ++i)
      std::memcpy(job[1].memory.data() + memory.offset_of(source + i), &i, sizeof i);
  }
  void expect_all_got() {
    moving.quiet(of);
    for (std::uint64_t i = 0; i < words; ++i) ASSERT_EQ(got[i], i);
  }
};

TEST_F(transfers_with_few_outstanding, a_loop_of_gets_waits_for_room) {
  for (std::size_t i = 0; i < words; ++i) {
    moving.get_nbi(of, &got[i], source + i, sizeof got[i], pe_id{1});
    ASSERT_LE(job[0].messages.under_way(pe_id{1}), most);
  }
  expect_all_got();
}

TEST_F(transfers_with_few_outstanding, a_loop_of_fetching_atomics_waits_for_room) {
  for (std::size_t i = 0; i < words; ++i) {
    moving.fetching_nbi(of, &got[i], source + i, {amo_op::fetch, 8, 0, 0}, pe_id{1});
    ASSERT_LE(job[0].messages.under_way(pe_id{1}), most);
  }
  expect_all_got();
}

TEST(outstanding_operations, of_a_new_context_are_not_those_of_one_that_was_at_the_same_address) {
  std::optional<outstanding> of;
  of.emplace();
  const std::uint64_t before = of->number();
  of.emplace();
  EXPECT_NE(of->number(), before);
}

TEST(ucx_threshold_in_an_unknown_form, is_refused) {
  setenv("UCX_RNDV_THRESH", "intra:8k,inter:16k", 1);
  EXPECT_THROW((station{0, 1, over_ucx}), usage_error);
  unsetenv("UCX_RNDV_THRESH");
}

}  // namespace
}  // namespace lull::fabric
