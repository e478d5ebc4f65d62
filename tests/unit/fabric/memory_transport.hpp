// A transport whose processes are objects of one process, served by one thread, so that a test can observe the protocol
// message by message. Payloads of at least `threshold` bytes with order::free are only announced; while `holds_back`,
// they do not arrive, so later messages overtake them. RDMA reaches the given memory; its accesses complete at once or,
// while `memory_network::delays`, one in each progress() of their initiator. The call that begins one takes at least
// `memory_network::call_ns`.
#pragma once
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "transport/remote_memory.hpp"
#include "transport/transport.hpp"

namespace lull::transport {

class memory_network final : public remote_memory {
 public:
  memory_network(std::span<std::byte> mine, int processes) : mine_(mine), peers_(static_cast<std::size_t>(processes)) {}

  void set_peer(int peer, memory_network* there) { peers_[static_cast<std::size_t>(peer)] = there; }
  [[nodiscard]] std::byte* exposed() const override { return mine_.data(); }
  [[nodiscard]] std::size_t bytes() const override { return mine_.size(); }
  [[nodiscard]] reach reaches(int peer) override {
    return peers_[static_cast<std::size_t>(peer)] ? reach::by_itself : reach::nothing;
  }
  [[nodiscard]] bool by_processor(int) override { return !delays; }
  [[nodiscard]] std::byte* look_into(int peer) override { return there(peer, 0); }

  void put(int peer, std::size_t offset, const void* source, std::size_t bytes, accessing& then) override {
    begin([this, peer, offset, source, bytes] { std::memcpy(there(peer, offset), source, bytes); }, then);
  }
  void get(int peer, std::size_t offset, void* destination, std::size_t bytes, accessing& then) override {
    begin([this, peer, offset, destination, bytes] { std::memcpy(destination, there(peer, offset), bytes); }, then);
  }
  void fetch(int peer, std::size_t offset, change how, const void* operand, void* old, std::size_t width,
             accessing& then) override {
    begin(
        [=, this] {
          std::uint64_t before = 0, with = 0, now = 0, wanted = 0;
          std::memcpy(&before, there(peer, offset), width);
          std::memcpy(&with, operand, width);
          std::memcpy(&wanted, old, width);
          now = how == change::add            ? before + with
                : how == change::compare_swap ? (before == with ? wanted : before)
                                              : with;
          std::memcpy(there(peer, offset), &now, width);
          std::memcpy(old, &before, width);
        },
        then);
  }
  void flush(int, accessing& then) override {
    begin([] {}, then);
  }

  bool progress() {
    if (under_way_.empty()) return false;
    const auto one = std::move(under_way_.front());
    under_way_.pop_front();
    one.happens();
    one.then->done();
    return true;
  }
  inline static bool delays = false;
  inline static std::int64_t call_ns = 0;

 private:
  struct access {
    std::function<void()> happens;
    accessing* then;
  };
  [[nodiscard]] std::byte* there(int peer, std::size_t offset) const {
    return peers_[static_cast<std::size_t>(peer)]->mine_.data() + offset;
  }
  void begin(std::function<void()> happens, accessing& then) {
    for (const std::int64_t end = now_ns() + call_ns; call_ns != 0 && now_ns() < end;) {
    }
    if (delays) return under_way_.push_back({std::move(happens), &then});
    happens();
    then.done();
  }

  std::span<std::byte> mine_;
  std::vector<memory_network*> peers_;
  std::deque<access> under_way_;
};

class memory_transport final : public transport {
 public:
  static constexpr std::size_t threshold = std::size_t{1} << 20U;

  memory_transport(receiver& to, int processes, std::span<std::byte> memory = {})
      : receiver_(to), peers_(static_cast<std::size_t>(processes)), event_fd_(eventfd(0, EFD_CLOEXEC)) {
    if (!memory.empty()) remote_ = std::make_unique<memory_network>(memory, processes);
  }
  ~memory_transport() override { close(event_fd_); }

  [[nodiscard]] std::vector<std::byte> address() const override {
    const memory_transport* const self = this;
    std::vector<std::byte> bytes(sizeof self);
    std::memcpy(bytes.data(), &self, sizeof self);
    return bytes;
  }
  void set_address(int peer, std::span<const std::byte> address) override {
    auto& there = peers_[static_cast<std::size_t>(peer)].there;
    std::memcpy(&there, address.data(), sizeof there);
    if (remote_) remote_->set_peer(peer, there->remote_.get());
  }
  [[nodiscard]] int connections() const override {
    int count = 0;
    for (const peer& other : peers_) count += other.used ? 1 : 0;
    return count;
  }
  void disconnect() override {}
  [[nodiscard]] std::size_t overtakable_from() const override { return threshold; }

  void send(int peer, unsigned kind, outgoing& message, std::span<const std::byte> header, const void* payload,
            std::size_t bytes, order wanted) override {
    auto& to = peers_[static_cast<std::size_t>(peer)];
    to.used = true;
    const auto* const first = static_cast<const std::byte*>(payload);
    if (wanted == order::free && bytes >= threshold) {
      to.there->inbox_.push_back({kind, {header.begin(), header.end()}, {}, first, bytes, &message});
    } else {
      to.there->inbox_.push_back(
          {kind, {header.begin(), header.end()}, {first, first + bytes}, nullptr, bytes, nullptr});
      message.sent();
    }
  }
  void fetch(const incoming& announced, void* destination, fetching& then) override {
    const arrival& from = *static_cast<const arrival*>(announced.data);
    const delivery one{from.source, from.bytes, destination, &then, from.message};
    if (holds_back)
      held_.push_back(one);
    else
      deliver(one);
  }

  [[nodiscard]] remote_memory* remote() override { return remote_.get(); }

  bool progress() override {
    if (remote_ && remote_->progress()) return true;
    if (!holds_back && !held_.empty()) {
      const delivery one = held_.front();
      held_.pop_front();
      deliver(one);
      return true;
    }
    if (inbox_.empty()) return false;
    arrival one = std::move(inbox_.front());
    inbox_.pop_front();
    if (one.source)
      receiver_.received(one.kind, one.header, {&one, one.bytes, true});
    else
      receiver_.received(one.kind, one.header, {one.payload.data(), one.bytes, false});
    return true;
  }
  bool arm() override { return misses_events || inbox_.empty(); }
  [[nodiscard]] bool arm_misses_events() const override { return misses_events; }
  [[nodiscard]] int event_fd() const override { return event_fd_; }

  inline static bool holds_back = false;
  inline static bool misses_events = false;

 private:
  struct peer {
    memory_transport* there = nullptr;
    bool used = false;
  };
  struct arrival {
    unsigned kind;
    std::vector<std::byte> header, payload;
    const std::byte* source;  // of a payload that is only announced
    std::size_t bytes;
    outgoing* message;
  };
  struct delivery {
    const std::byte* source;
    std::size_t bytes;
    void* destination;
    fetching* then;
    outgoing* message;
  };
  static void deliver(const delivery& one) {
    std::memcpy(one.destination, one.source, one.bytes);
    one.then->fetched();
    one.message->sent();
  }

  receiver& receiver_;
  std::vector<peer> peers_;
  int event_fd_;
  std::deque<arrival> inbox_;
  std::deque<delivery> held_;
  std::unique_ptr<memory_network> remote_;
};

}  // namespace lull::transport
