// What carries messages between nodes. Ten operations that a network of any kind can offer; what OpenSHMEM wants of
// them (acknowledgement, order, completion) is made of them in fabric/protocol.hpp, once for all transports. A network
// that puts and gets by itself offers remote_memory.hpp besides.
//
// A message is a header and a payload. It leaves with send(), and header and payload must stay until
// `outgoing::sent()`. It comes, whole, in `receiver::received()`, inside progress(); a payload that was announced only
// is fetched then, or never.
//
// Order: messages to one peer are received in the order of the calls of send(), except those that the transport may
// send so that later ones overtake them: payloads of `overtakable_from()` bytes and more that were sent with
// order::free. By what is declared there, fence and quiet know what they must wait for.
//
// Calls come one at a time, whatever the thread. No call waits, but disconnect(). Processes are numbered as in the job.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace lull::transport {

// A message on its way.
class outgoing {
 public:
  virtual void sent() = 0;  // its header and payload are no longer needed; perhaps still inside send()
  // It could not be sent, and is no longer needed: its peer is gone, or the network.
  virtual void lost(const char* why) = 0;

 protected:
  ~outgoing() = default;
};

// The payload of a message that is being received.
struct incoming {
  void* data;  // the bytes, or, of a payload that was only announced, what fetch() needs
  std::size_t bytes;
  bool announced;
};

// Who has asked for an announced payload.
class fetching {
 public:
  virtual void fetched() = 0;  // perhaps still inside fetch()
  virtual void lost() = 0;     // it will not come: its sender is gone

 protected:
  ~fetching() = default;
};

class receiver {
 public:
  // A message of this kind. May fetch, but not send. The header is not aligned.
  virtual void received(unsigned kind, std::span<const std::byte> header, const incoming& payload) = 0;
  // A peer to which there was a connection is gone, or cannot be reached any more. Told only where the transport was asked
  // to live on without it; nothing comes from it after that, and nothing can be sent to it.
  virtual void lost(int peer) { (void)peer; }

 protected:
  ~receiver() = default;
};

enum class order { kept, free };

class remote_memory;

class transport {
 public:
  static constexpr unsigned kinds = 16;  // of messages: 0 ≤ kind < kinds

  transport() = default;
  virtual ~transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;

  // What the others must know to send to this process; to be given to introduce() there, before the first message.
  [[nodiscard]] virtual std::vector<std::byte> address() const = 0;
  virtual void introduce(int peer, std::span<const std::byte> address) = 0;
  // Peers to which there is a connection. It is made by the first message.
  [[nodiscard]] virtual int connections() const = 0;
  // Ends them all; no peer may send any more.
  virtual void disconnect() = 0;

  [[nodiscard]] virtual std::size_t overtakable_from() const = 0;
  virtual void send(int peer, unsigned kind, outgoing& message, std::span<const std::byte> header, const void* payload,
                    std::size_t bytes, order wanted) = 0;
  virtual void fetch(const incoming& announced, void* destination, fetching& then) = 0;

  // What is reached without messages; null: nothing.
  [[nodiscard]] virtual remote_memory* remote() { return nullptr; }

  // Handles a few of the things that have happened; false: there were none.
  virtual bool progress() = 0;
  // To sleep until something happens: arm(), then poll the descriptor; false: there is something to progress first.
  virtual bool arm() = 0;
  [[nodiscard]] virtual int event_fd() const = 0;
};

}  // namespace lull::transport
