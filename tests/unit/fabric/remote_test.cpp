// Transfers between nodes, with all PEs of the job in one process, over UCX's tcp on the loopback.
#include "fabric/remote.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>

#include "base/error.hpp"
#include "fabric/remote_messages.hpp"

namespace lull::fabric {
namespace {

constexpr std::size_t memory_bytes = std::size_t{4} << 20U;

struct station {
  std::vector<std::byte> memory = std::vector<std::byte>(memory_bytes);
  shared_lock accumulating;
  ledger book;
  remote transfers;
  station(int pe, int pes)
      : transfers(pe_id{pe}, pes, memory, accumulating, {.one_host = true},
                  {.memory_changed = [] {}, .node_memory_changed = [] {}}) {
    accumulating.open();
  }
};

class remote_transfers : public testing::Test {
 protected:
  static constexpr int pes = 3;
  remote_transfers() {
    setenv("UCX_TLS", "tcp,self", 1);
    for (int pe = 0; pe < pes; ++pe) job.emplace_back(pe, pes);
    for (station& one : job)
      for (int pe = 0; pe < pes; ++pe)
        one.transfers.meet(pe_id{pe}, job[static_cast<std::size_t>(pe)].transfers.contact());
  }
  ~remote_transfers() override {
    for (station& one : job) one.transfers.disconnect();
  }
  void drive_until(const std::function<bool()>& ready) {
    while (!ready()) {
      for (station& one : job) one.transfers.progress();
      also_drive();
    }
  }
  void complete(station& one) {
    std::vector<remote::receipt> waiting;
    one.transfers.due(one.book, waiting);
    drive_until([&] { return one.transfers.arrived(one.book, waiting); });
    one.transfers.settle(one.book);
  }
  std::deque<station> job;
  std::function<void()> also_drive = [] {};
};

TEST_F(remote_transfers, a_pe_is_connected_only_to_those_it_talks_to) {
  for (const station& one : job) EXPECT_EQ(one.transfers.connections(), 0);
  const std::uint64_t value = 42;
  job[0].transfers.put(job[0].book, pe_id{2}, 64, &value, sizeof value, nullptr, nullptr);
  complete(job[0]);
  EXPECT_EQ(std::memcmp(job[2].memory.data() + 64, &value, sizeof value), 0);
  EXPECT_EQ(job[0].transfers.connections(), 1);
  EXPECT_EQ(job[1].transfers.connections(), 0);
  EXPECT_EQ(job[2].transfers.connections(), 1);  // it acknowledges
}

TEST_F(remote_transfers, what_goes_by_rendezvous_may_be_overtaken_and_nothing_else) {
  const std::vector<std::byte> data(std::size_t{2} << 20U, std::byte{1});
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{4096}, (std::size_t{1} << 20U) - 1}) {
    job[0].transfers.put(job[0].book, pe_id{1}, 0, data.data(), bytes, nullptr, nullptr);
    EXPECT_FALSE(job[0].transfers.must_settle_to_order(job[0].book)) << bytes;
  }
  job[0].transfers.put(job[0].book, pe_id{1}, 0, data.data(), std::size_t{1} << 20U, nullptr, nullptr);
  EXPECT_TRUE(job[0].transfers.must_settle_to_order(job[0].book));
  complete(job[0]);
  EXPECT_FALSE(job[0].transfers.must_settle_to_order(job[0].book));
}

class remote_threshold : public testing::TestWithParam<const char*> {};

TEST_P(remote_threshold, is_that_of_ucx) {
  setenv("UCX_TLS", "tcp,self", 1);
  setenv("UCX_RNDV_THRESH", GetParam(), 1);
  station here{0, 1};
  unsetenv("UCX_RNDV_THRESH");
  here.transfers.meet(pe_id{0}, here.transfers.contact());
  const std::vector<std::byte> data(std::size_t{64} << 10U, std::byte{1});
  const auto overtakable_at = [&](std::size_t bytes) {
    here.transfers.put(here.book, pe_id{0}, 0, data.data(), bytes, nullptr, nullptr);
    const bool answer = here.transfers.must_settle_to_order(here.book);
    std::vector<remote::receipt> waiting;
    here.transfers.due(here.book, waiting);
    while (!here.transfers.arrived(here.book, waiting)) here.transfers.progress();
    here.transfers.settle(here.book);
    return answer;
  };
  const bool small = std::string(GetParam()) == "8k";
  EXPECT_EQ(overtakable_at(64 << 10), small);
  EXPECT_EQ(overtakable_at(8 << 10), small);
  EXPECT_FALSE(overtakable_at((8 << 10) - 1));
  EXPECT_EQ(std::count(here.memory.begin(), here.memory.end(), std::byte{1}), 64 << 10);
  here.transfers.disconnect();
}

INSTANTIATE_TEST_SUITE_P(settings, remote_threshold, testing::Values("8k", "auto", "inf"));

TEST(remote_threshold_in_an_unknown_form, is_refused) {
  setenv("UCX_RNDV_THRESH", "intra:8k,inter:16k", 1);
  EXPECT_THROW((station{0, 1}), usage_error);
  unsetenv("UCX_RNDV_THRESH");
}

// A UCX client that is no PE of the job: it has found out a PE's address, and knows the form of the messages.
class stranger {
 public:
  explicit stranger(const std::vector<std::byte>& contact) {
    ucp_config_t* config = nullptr;
    EXPECT_EQ(ucp_config_read(nullptr, nullptr, &config), UCS_OK);
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_AM;
    EXPECT_EQ(ucp_init(&params, config, &context_), UCS_OK);
    ucp_config_release(config);
    ucp_worker_params_t worker{};
    EXPECT_EQ(ucp_worker_create(context_, &worker, &worker_), UCS_OK);
    ucp_ep_params_t to{};
    to.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    to.address = reinterpret_cast<const ucp_address_t*>(contact.data() + sizeof(std::uint64_t));
    EXPECT_EQ(ucp_ep_create(worker_, &to, &endpoint_), UCS_OK);
  }
  stranger(const stranger&) = delete;
  stranger& operator=(const stranger&) = delete;
  ~stranger() {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    wait(ucp_ep_close_nbx(endpoint_, &param));
    for (const message& m : sent_) wait(m.request);
    ucp_worker_destroy(worker_);
    ucp_cleanup(context_);
  }
  template <class Header>
  void send(unsigned id, const Header& header, const std::vector<std::byte>& data, std::uint32_t flags) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = flags;
    message& m = sent_.emplace_back();  // UCX reads it until it is sent
    m.header.resize(sizeof header);
    std::memcpy(m.header.data(), &header, sizeof header);
    m.data = data;
    m.request = ucp_am_send_nbx(endpoint_, id, m.header.data(), m.header.size(), m.data.data(), m.data.size(), &param);
    ASSERT_FALSE(UCS_PTR_IS_ERR(m.request));
  }
  void drive() { ucp_worker_progress(worker_); }

 private:
  struct message {
    std::vector<std::byte> header, data;
    void* request = nullptr;
  };
  void wait(void* request) {
    if (!UCS_PTR_IS_PTR(request)) return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS) drive();
    ucp_request_free(request);
  }
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  std::deque<message> sent_;
};

TEST_F(remote_transfers, a_message_of_a_process_that_is_no_pe_changes_nothing) {
  station& target = job[1];
  const std::vector<std::byte> before = target.memory, data(std::size_t{2} << 20U, std::byte{0xEE});
  const std::vector<std::byte> some(data.begin(), data.begin() + 4096);
  stranger intruder(target.transfers.contact());
  also_drive = [&] { intruder.drive(); };
  const envelope guessed{0x1234, 0}, none{0, 2};
  std::uint64_t sent = 0;
  for (const envelope& sender : {guessed, none}) {
    put_header put{};
    put.sent = sender;
    intruder.send(id_put, put, some, UCP_AM_SEND_FLAG_EAGER);
    intruder.send(id_put, put, data, UCP_AM_SEND_FLAG_RNDV);
    intruder.send(id_combined, combined_header{sender}, some, UCP_AM_SEND_FLAG_EAGER);
    intruder.send(id_update, update_header{sender, update_op::add, 8, 0, 1, 0, 0}, {}, UCP_AM_SEND_FLAG_EAGER);
    intruder.send(id_get, get_header{sender, 0, 4096, 1}, {}, UCP_AM_SEND_FLAG_EAGER);
    intruder.send(id_reply, reply_header{sender, 0xDEADBEEF}, some, UCP_AM_SEND_FLAG_EAGER);
    intruder.send(id_acknowledge, acknowledge_header{sender, 1'000'000}, {}, UCP_AM_SEND_FLAG_EAGER);
    sent += 7;
  }
  intruder.send(id_put, std::uint8_t{0}, some, UCP_AM_SEND_FLAG_EAGER);  // not even an envelope
  ++sent;
  drive_until([&] { return target.transfers.refused() == sent; });
  EXPECT_EQ(target.memory, before);
  EXPECT_EQ(target.transfers.connections(), 0);  // it was not answered either

  const std::uint64_t value = 7;  // and the job goes on
  job[0].transfers.put(job[0].book, pe_id{1}, 8, &value, sizeof value, nullptr, nullptr);
  complete(job[0]);
  EXPECT_EQ(std::memcmp(target.memory.data() + 8, &value, sizeof value), 0);
}

}  // namespace
}  // namespace lull::fabric
