// A transport whose processes are objects of one process, served by one thread: what the protocol does can be looked at
// message by message. Payloads of `threshold` bytes and more with order::free are only announced, and while
// `holds_back` they do not come: later messages overtake them.
#pragma once
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <vector>

#include "transport/transport.hpp"

namespace lull::transport {

class memory_transport final : public transport {
 public:
  static constexpr std::size_t threshold = std::size_t{1} << 20U;

  memory_transport(receiver& to, int processes)
      : receiver_(to), peers_(static_cast<std::size_t>(processes)), event_fd_(eventfd(0, EFD_CLOEXEC)) {}
  ~memory_transport() override { close(event_fd_); }

  [[nodiscard]] std::vector<std::byte> address() const override {
    const memory_transport* const self = this;
    std::vector<std::byte> bytes(sizeof self);
    std::memcpy(bytes.data(), &self, sizeof self);
    return bytes;
  }
  void introduce(int peer, std::span<const std::byte> address) override {
    std::memcpy(&peers_[static_cast<std::size_t>(peer)].there, address.data(), sizeof(memory_transport*));
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

  bool progress() override {
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
  bool arm() override { return inbox_.empty(); }
  [[nodiscard]] int event_fd() const override { return event_fd_; }

  inline static bool holds_back = false;

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
};

}  // namespace lull::transport
