// Applies the operations that PEs of other nodes send to this PE to its memory. A transfer thus progresses while its
// target computes or sleeps, whichever thread drives the progress there.
//
// Runs inside the transport's progress, with the lock of the protocol held, where nothing may be sent. Acknowledgements
// and answers are therefore kept, and send_answers() and send_acks() send them afterwards. Offsets are into the
// symmetric memory and are checked here; a message that reaches beyond it ends the PE with a line.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "fabric/operations/accumulate.hpp"
#include "fabric/operations/block_descriptor.hpp"
#include "fabric/protocol/hooks.hpp"
#include "fabric/protocol/messages.hpp"
#include "fabric/protocol/pending_acks.hpp"
#include "job/shared_lock.hpp"
#include "transport/transport.hpp"

namespace lull::fabric {

class sender;

// The memory of this PE that others may access, and the lock of its accumulates.
struct served_memory {
  std::span<std::byte> bytes;
  job::shared_lock& accumulating;
  [[nodiscard]] bool contains(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at - reinterpret_cast<std::uintptr_t>(bytes.data()) < bytes.size();
  }
};

class server {
 public:
  server(pe_id me, int pes, const served_memory& memory, const protocol_hooks& hooks)
      : me_(me), memory_(memory), hooks_(hooks), acks_(pes) {}
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  using header = std::span<const std::byte>;
  using payload = transport::incoming;
  void put(transport::transport& from, header h, const payload& data);
  void coalesced(transport::transport& from, header h, const payload& data);
  void scatter(transport::transport& from, header h, const payload& data);
  void get(header h);
  void gather(header h, const payload& data);
  void amo(header h);

  [[nodiscard]] bool has_answers() const { return !answers_.empty(); }
  [[nodiscard]] bool has_acks() const { return acks_.any(); }
  void send_answers(sender& by);
  void send_acks(sender& by);

 private:
  struct answer {
    pe_id to;
    std::uint64_t token;
    std::size_t offset, bytes;  // in the memory; or bytes ≤ 8 in `value`
    bool immediate;
    std::uint64_t value;
    std::vector<std::byte> packed;  // or in here
  };
  template <class Then>
  void when_fetched(transport::transport& from, const payload& data, std::byte* destination, pe_id sender, Then then);
  void put_applied(const put_header& put);
  const std::byte* apply_run(const std::byte* data) const;  // returns the end of the run
  void apply_coalesced(pe_id from, const std::byte* data, std::size_t bytes);
  void apply_scatter(const blocks_header& blocks, const std::byte* data, std::size_t bytes);
  [[nodiscard]] std::byte* at(std::size_t offset, std::size_t bytes, const char* what) const;
  [[nodiscard]] std::byte* at(std::size_t offset, const block_descriptor& there, const char* what) const;

  pe_id me_;
  const served_memory& memory_;
  const protocol_hooks& hooks_;
  pending_acks acks_;
  std::vector<answer> answers_;
};

}  // namespace lull::fabric
