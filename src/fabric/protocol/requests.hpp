// The requests of this PE to other nodes and what comes back: replies to gets and fetching atomics, and
// acknowledgements of every change of memory there.
//
// Call with the lock of the protocol held, except where a comment says otherwise. Replies and acknowledgements arrive
// inside the transport's progress, where nothing may be sent.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/units.hpp"
#include "fabric/operations/block_descriptor.hpp"
#include "fabric/operations/completion.hpp"
#include "fabric/protocol/hooks.hpp"
#include "fabric/protocol/server.hpp"
#include "transport/pool.hpp"
#include "transport/transport.hpp"
#include "wait/completion_flag.hpp"

namespace lull::fabric {

// The destination of the answer to a get or a fetch. Must stay in place until done.
struct reply {
  void* destination = nullptr;
  std::size_t bytes = 0;  // of the answer
  wait::completion_flag done{};
  // With a block_descriptor, the bytes are blocks, beginning with block `first`, which are scattered from
  // `destination`.
  const block_descriptor* blocks = nullptr;
  std::size_t first = 0, count = 0;
  // Set in the replies of `requests` itself, which count in that context and are recycled when done.
  outstanding* of = nullptr;
  pe_id by{0};
};

// The name of a reply in a request: an address of this process, which the target returns.
inline std::uint64_t token_of(const reply& answer) { return reinterpret_cast<std::uint64_t>(&answer); }

class requests {
 public:
  requests(int pes, const served_memory& memory, const protocol_hooks& hooks)
      : memory_(memory), hooks_(hooks), completion_(pes) {}
  requests(const requests&) = delete;
  requests& operator=(const requests&) = delete;

  [[nodiscard]] completion& completing() { return completion_; }
  [[nodiscard]] const completion& completing() const { return completion_; }

  // A reply to a non-blocking request of this context, which counts as outstanding until it has arrived.
  [[nodiscard]] reply& new_reply(outstanding& of, pe_id by, void* destination, std::size_t bytes);
  // Reports that the whole answer is at its destination. The reply may be gone when this returns.
  void answered(reply& answer);

  void received_reply(transport::transport& from, std::span<const std::byte> header,
                      const transport::incoming& payload);
  void received_ack(std::span<const std::byte> header);

  // Whether a reply has arrived since the last call of begin_round().
  void begin_round() { replied_ = false; }
  [[nodiscard]] bool replied() const { return replied_; }

 private:
  const served_memory& memory_;
  const protocol_hooks& hooks_;
  completion completion_;
  pool<reply> replies_;
  bool replied_ = false;
};

}  // namespace lull::fabric
