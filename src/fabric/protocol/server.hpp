// What a process does with the operations of PEs of other nodes: it applies them to its own memory. So a transfer
// progresses while its target computes or sleeps, whoever drives the progress there.
//
// Runs inside the transport's progress, with the lock of the protocol held; it may not send. What it has to say is
// kept: acknowledgements in `acks`, answers in answers(), and the protocol sends them afterwards. Offsets are into the
// symmetric memory and are checked here; a message that reaches beyond it ends the PE with a line.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "fabric/operations/accumulate.hpp"
#include "fabric/operations/block_descriptor.hpp"
#include "fabric/protocol/messages.hpp"
#include "fabric/protocol/pending_acks.hpp"
#include "transport/transport.hpp"

namespace lull::fabric {

struct protocol_hooks {
  std::function<void()> memory_changed;       // this PE's memory was written, or a message of its own went or came
  std::function<void()> node_memory_changed;  // as a signal that concerns all PEs of this node
  std::function<void()> sleeper_answered{};   // what a thread waited for that sleeps on the transport
  // Another PE cannot be reached; does not return. Without it, this process says so and exits.
  std::function<void(const std::string& found)> lost{};
};

// The memory of this PE that others may reach, and who may accumulate there.
struct served_memory {
  std::span<std::byte> bytes;
  shared_lock& accumulating;
};

struct answer {
  pe_id to;
  std::uint64_t token;
  std::size_t offset, bytes;  // of the memory, or bytes ≤ 8 of `value`
  bool immediate;
  std::uint64_t value;
  std::vector<std::byte> packed;  // or these
};

class server {
 public:
  server(pe_id me, const served_memory& memory, const protocol_hooks& hooks, pending_acks& acks)
      : me_(me), memory_(memory), hooks_(hooks), acks_(acks) {}

  using header = std::span<const std::byte>;
  using payload = transport::incoming;
  void put(transport::transport& from, header h, const payload& data);
  void coalesced(transport::transport& from, header h, const payload& data);
  void scatter(transport::transport& from, header h, const payload& data);
  void get(header h);
  void gather(header h, const payload& data);
  void amo(header h);

  [[nodiscard]] std::vector<answer>& answers() { return answers_; }
  [[nodiscard]] const std::byte* memory() const { return memory_.bytes.data(); }
  [[nodiscard]] bool serves(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address), begin = reinterpret_cast<std::uintptr_t>(memory());
    return at - begin < memory_.bytes.size();
  }

 private:
  template <class Then>
  void when_fetched(transport::transport& from, const payload& data, std::byte* destination, pe_id sender, Then then);
  void put_applied(const put_header& put);
  void apply_coalesced(pe_id from, const std::byte* data, std::size_t bytes);
  void apply_scatter(const blocks_header& blocks, const std::byte* data, std::size_t bytes);
  [[nodiscard]] std::byte* at(std::size_t offset, std::size_t bytes, const char* what) const;
  [[nodiscard]] std::byte* at(std::size_t offset, const block_descriptor& there, const char* what) const;

  pe_id me_;
  served_memory memory_;
  const protocol_hooks& hooks_;
  pending_acks& acks_;
  std::vector<answer> answers_;
};

}  // namespace lull::fabric
