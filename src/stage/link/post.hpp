// Packets between the processes of a job on different nodes, and contents of any size that the receiver fetches, over a
// transport (transport/). A sender must know the receiver's secret, which only its job knows; everything else is
// dropped.
//
// Packets of one process arrive in the order in which they were sent; contents may arrive later than packets sent after
// them. lost() reports a process that has died; nothing can be sent to it any more.
//
// Calls come one at a time, from any thread. The handler is called inside progress() and may not send there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "job/segment.hpp"
#include "stage/link/exchange.hpp"
#include "stage/link/packet.hpp"
#include "transport/transport.hpp"

namespace lull::stage {

class post_handler {
 public:
  virtual void packet_from(int peer, packet_reader text) = 0;  // throws lull::error for an unknown message
  virtual void content_from(int peer, std::uint64_t number, const transport::incoming& content) = 0;
  virtual void lost(int peer) = 0;

 protected:
  ~post_handler() = default;
};

class post final : transport::receiver {
 public:
  post(post_handler& to, exchange& others);  // collective over all processes
  ~post();
  post(const post&) = delete;
  post& operator=(const post&) = delete;

  void send(int peer, packet text);
  void send(int peer, std::uint64_t number, job::mapping content, std::size_t bytes);
  [[nodiscard]] bool sending() const { return !outgoing_.empty(); }
  void fetch(const transport::incoming& content, std::byte* destination, transport::fetching& then) {
    transport_->fetch(content, destination, then);
  }

  // Those of the transport.
  bool progress() { return transport_->progress(); }
  bool arm() { return transport_->arm() && !(transport_->arm_misses_events() && transport_->progress()); }
  [[nodiscard]] int event_fd() const { return transport_->event_fd(); }

 private:
  struct header {
    std::uint64_t secret;  // the receiver's
    int from;
    std::uint64_t number;  // of a content
  };
  struct outgoing_message final : transport::outgoing {
    void sent() override { owner->outgoing_.erase(self); }
    void lost(const char*) override { sent(); }  // the handler hears of the peer
    post* owner = nullptr;
    std::list<outgoing_message>::iterator self;
    header head = {};
    packet text;
    job::mapping content;
  };
  void received(unsigned kind, std::span<const std::byte> head, const transport::incoming& payload) override;
  void lost(int peer) override { handler_.lost(peer); }
  outgoing_message& write(int peer, std::uint64_t number);

  post_handler& handler_;
  int me_;
  std::vector<std::uint64_t> secrets_;    // by process
  std::list<outgoing_message> outgoing_;  // on their way
  std::unique_ptr<transport::transport> transport_;
};

}  // namespace lull::stage
