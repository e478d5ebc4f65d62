// Operations on PEs of other nodes, over a transport. Each becomes one message, which the other process applies to its
// own memory. Order and completion are defined here and in completion.hpp, for all transports.
//
//   put, amo, scatter, accumulate   complete when the target has acknowledged them, many messages at a time
//   get, fetch, gather              complete when `reply::done` turns true or, without a reply of the caller, when the
//                                   outstanding operations of their context are complete
//
// Messages to one PE are applied in the order of the calls, except that the transport may let later messages overtake
// large ones (transport::overtakable_from()); must_complete_to_order() tells whether fence must wait for that.
//
// The parts:
//
//   sender     how messages leave: keys, pools, coalescing            requests   what comes back: replies, completion
//   server     operations of others, applied to this PE's memory      rdma       what the network carries out by itself
//   admission  the keys: each PE draws one at random, which only the PEs of its job learn; messages without it are
//              dropped
//
// Any thread of the process may call; one lock guards all parts. No call waits; the callers wait in wait/.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "fabric/operations/accumulate.hpp"
#include "fabric/operations/amo.hpp"
#include "fabric/operations/block_descriptor.hpp"
#include "fabric/operations/completion.hpp"
#include "fabric/protocol/admission.hpp"
#include "fabric/protocol/hooks.hpp"
#include "fabric/protocol/rdma.hpp"
#include "fabric/protocol/requests.hpp"
#include "fabric/protocol/sender.hpp"
#include "fabric/protocol/server.hpp"
#include "fabric/protocol/transforming.hpp"
#include "transport/transport.hpp"

namespace lull::fabric {

class protocol final : transport::receiver {
 public:
  protocol(pe_id me, int pes, const served_memory& memory, protocol_hooks hooks, const make_transport& make,
           const coalescing& small_puts, const rdma_settings& by_network = {});
  ~protocol();
  protocol(const protocol&) = delete;
  protocol& operator=(const protocol&) = delete;

  // What a PE of the job needs to send to this one: its key and its address.
  [[nodiscard]] std::vector<std::byte> contact() const;
  void set_peer(pe_id pe, std::span<const std::byte> contact);  // before the first operation on that PE
  [[nodiscard]] int connections() const;                        // PEs that this one has sent anything to
  [[nodiscard]] std::uint64_t refused() const { return admission_.refused(); }  // messages from outside the job
  // The network's own access to memory; null: it has none. For one thread, before others send.
  [[nodiscard]] transport::remote_memory* remote_memory() { return sender_.by().remote(); }
  [[nodiscard]] std::string why_no_rdma() const;  // as in transport.hpp
  void disconnect();                              // call when no peer will send any more

  // Adds a small put, or an atomic, to the message that is open for its context, without this class's lock. False: nothing changed.
  [[nodiscard]] bool join(const outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
                          transforming how) {
    return sender_.join(of, pe, offset, source, bytes, how);
  }
  [[nodiscard]] bool join(const outstanding& of, pe_id pe, const amo& u, transforming how) {
    return sender_.join(of, pe, u, how);
  }
  // `sent`, if not null, turns true when the source may be reused; otherwise the source must stay unchanged until the
  // put is complete.
  void put(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
           const signal_amo* signal, std::atomic<bool>* sent, transforming how = transforming::automatic);
  // Reports how long a put waited for its source, if `sent` was not true at once.
  void waited_for_source(std::size_t bytes, std::int64_t ns) { sender_.waited_for_source(bytes, ns); }
  // Later puts of this context are behind a fence.
  void fenced(const outstanding& of);
  void get(pe_id pe, std::size_t offset, reply& answer);
  void get_nbi(outstanding& of, pe_id pe, std::size_t offset, void* destination, std::size_t bytes);
  void non_fetching(outstanding& of, pe_id pe, const amo& u, transforming how = transforming::automatic);
  void fetching(pe_id pe, const amo& u, reply& answer);  // the old value has u.width bytes
  void fetching_nbi(outstanding& of, pe_id pe, const amo& u, void* old_value);

  // `count` blocks of `there`, beginning with block `first`, at `offset` of `pe`, packed in what room_for_blocks()
  // returned. At most message_bytes of them, or one block.
  static constexpr std::size_t message_bytes = std::size_t{256} << 10U;
  struct blocks_message {
    std::vector<std::byte> payload;
    [[nodiscard]] std::byte* packed() { return payload.data() + sizeof(block_descriptor); }
  };
  [[nodiscard]] static blocks_message room_for_blocks(const block_descriptor& there, std::size_t bytes);
  void scatter(outstanding& of, pe_id pe, std::size_t offset, std::size_t first, std::size_t count,
               blocks_message blocks, const axpy* add);
  void gather(pe_id pe, std::size_t offset, const block_descriptor& there, std::size_t first, std::size_t count,
              reply& answer);

  // Completion of a context's operations. tickets() also sends all coalesced puts.
  void tickets(const outstanding& of, std::vector<ticket>& result);
  // The same for operations on these PEs, which may repeat: sends only the puts coalesced for them.
  void tickets(const outstanding& of, std::span<const pe_id> pes, std::vector<ticket>& result);
  [[nodiscard]] bool reached(const outstanding& of, std::vector<ticket>& waiting) const {
    return requests_.completing().reached(of, waiting);
  }
  [[nodiscard]] bool reached(const outstanding& of, std::span<const pe_id> pes, std::vector<ticket>& waiting) const;
  void complete(outstanding& of);
  [[nodiscard]] static bool must_complete_to_order(const outstanding& of) { return of.overtakable(); }
  [[nodiscard]] bool all_complete() const {
    return requests_.completing().all();  // the targets have applied everything ever sent
  }
  [[nodiscard]] std::uint64_t under_way(pe_id pe) const { return requests_.completing().under_way(pe); }

  [[nodiscard]] transforming_counts transformed() const { return sender_.transformed(); }
  [[nodiscard]] rdma_counts by_rdma() const;
  // The choices made and their effect: which transfers the network carries out and, if `rewriting`, which puts are
  // rewritten.
  [[nodiscard]] std::vector<model::choice_account> choices(bool rewriting) const;
  bool progress();  // handles arrivals, sends what is due; returns whether there was any
  // The same, unless another thread is in progress(): waiting for its lock would leave nothing to do.
  bool progress_unless_another_does();
  void flush();  // sends all coalesced puts
  // Counts the rounds of progress made by callers that send one message after another.
  [[nodiscard]] std::uint64_t opportunistic_rounds() const { return opportunistic_.load(std::memory_order_relaxed); }
  [[nodiscard]] int event_fd() const { return sender_.by().event_fd(); }
  [[nodiscard]] int deadline_fd() const { return sender_.deadline_fd(); }
  [[nodiscard]] bool arm();  // true: event_fd() will become readable at the next event; false: progress first

 private:
  void received(unsigned kind, std::span<const std::byte> header, const transport::incoming& payload) override;

  // False: the operation must be a message, and nothing has happened. True: the network has started it.
  bool put_by_rdma(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
                   const signal_amo* signal, std::atomic<bool>* sent);
  bool get_by_rdma(outstanding* of, pe_id pe, std::size_t offset, void* destination, std::size_t bytes, reply* answer);
  bool fetch_by_rdma(outstanding* of, pe_id pe, const amo& u, void* old_value, reply* answer);
  void send_rings_and_signals();

  bool progress_locked();
  void opportunistic_progress(unsigned messages = 1);  // after this many messages of the caller

  mutable std::mutex lock_;  // guards everything below, except what its own header says
  pe_id me_;
  served_memory memory_;
  protocol_hooks hooks_;
  admission admission_;
  requests requests_;
  server server_;
  std::optional<rdma> rdma_;  // empty: the network carries out nothing by itself
  unsigned sent_since_progress_ = 0;
  std::atomic<std::uint64_t> opportunistic_{0};
  sender sender_;  // destroyed first, because its transport calls the members above
};

}  // namespace lull::fabric
