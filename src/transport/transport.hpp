// The interface of transports, which carry messages between nodes. It has ten operations that every kind of network can
// offer. fabric/protocol/protocol.hpp builds acknowledgement, order and completion, as OpenSHMEM needs them, from these, once
// for all transports. A network with RDMA also offers remote_memory.hpp.
//
// Messages. A message is a header and a payload. send() sends it; header and payload must remain valid until
// outgoing::sent(). receiver::received() receives it, whole, inside progress(). If the payload was only announced, the
// receiver fetches it in that call, or never.
//
// Order. Messages to one peer are received in the order in which they were sent. Only a payload of overtakable_from()
// bytes or more that was sent with order::free may be overtaken by later messages. Fence and quiet rely on this.
//
// Threads. Any thread may call a transport, one at a time. No call waits, except disconnect(). Processes have the
// numbers of the job.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace lull::transport {

// A message that is being sent.
class outgoing {
 public:
  virtual void sent() = 0;  // header and payload may be reused; may be called inside send()
  // Instead of sent(): the peer or the network has failed. Header and payload may be reused.
  virtual void lost(const char* why) = 0;

 protected:
  ~outgoing() = default;
};

// The payload of a message that is being received.
struct incoming {
  void* data;  // the payload; if it was only announced, an argument for fetch()
  std::size_t bytes;
  bool announced;
};

// The completion of a fetch.
class fetching {
 public:
  virtual void fetched() = 0;  // may be called inside fetch()
  virtual void lost() = 0;     // instead of fetched(): the sender has failed

 protected:
  ~fetching() = default;
};

class receiver {
 public:
  // Receives a message. May call fetch(), but not send(). The header is not aligned.
  virtual void received(unsigned kind, std::span<const std::byte> header, const incoming& payload) = 0;
  // A connected peer has failed or cannot be reached any more: no message comes from it, and none can be sent to it.
  // Called only if the transport was made to outlive its peers.
  virtual void lost(int peer) { (void)peer; }

 protected:
  ~receiver() = default;
};

enum class order { kept, free };

class remote_memory;

class transport {
 public:
  static constexpr unsigned kinds = 16;  // number of kinds of messages: 0 ≤ kind < kinds

  transport() = default;
  virtual ~transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;

  // The address of this process. Each peer passes it to set_address() before its first message to this process.
  [[nodiscard]] virtual std::vector<std::byte> address() const = 0;
  virtual void set_address(int peer, std::span<const std::byte> address) = 0;
  // The number of connected peers. The first message to a peer connects.
  [[nodiscard]] virtual int connections() const = 0;
  // Ends all connections, and waits for that. No peer may send any more.
  virtual void disconnect() = 0;

  [[nodiscard]] virtual std::size_t overtakable_from() const = 0;
  virtual void send(int peer, unsigned kind, outgoing& message, std::span<const std::byte> header, const void* payload,
                    std::size_t bytes, order wanted) = 0;
  virtual void fetch(const incoming& announced, void* destination, fetching& then) = 0;

  // The interface for RDMA; null if there is none.
  [[nodiscard]] virtual remote_memory* remote() { return nullptr; }
  // Why RDMA is not used although the options permit it and this host has an adapter, as a clause; otherwise empty.
  [[nodiscard]] virtual std::string why_no_rdma() const { return {}; }

  // Handles a few events; returns false if there were none.
  virtual bool progress() = 0;
  // To sleep until the next event, call arm() and then poll event_fd(). arm() returns false if there are events that
  // progress() must handle first.
  virtual bool arm() = 0;
  // Whether arm() misses events that have arrived since the last progress(): they make event_fd() readable only together
  // with a later one. Call progress() once more after arm(), and sleep only if it returns false.
  [[nodiscard]] virtual bool arm_misses_events() const { return false; }
  [[nodiscard]] virtual int event_fd() const = 0;
};

}  // namespace lull::transport
