// Operations on PEs of other nodes, over a transport. Each becomes one message that the other process applies to its
// own memory (server.hpp). Order and completion are defined here and in completion.hpp, once for all transports.
//
//   put, amo, scatter, accumulate   complete when the context's outstanding operations are: the target acknowledges,
//   many
//                                   messages at a time
//   get, fetch, gather              complete when `reply::done` turns true, or, with no reply of the caller's own, as
//   above
//
// Messages to one PE are applied in the order of the calls, except that the transport may let large ones be overtaken
// (transport::overtakable_from()); must_complete_to_order() says when fence has to wait for that. Which puts are
// coalesced, and of which the source is copied, is transforming.hpp's; which operations are no messages, because the
// network carries them out by itself, rdma.hpp's.
//
// Each PE has a key, drawn at random, that only the PEs of its job learn; a message without it is dropped, whoever it
// came from (admission).
//
// May be called from any thread of the process. No call waits; the callers wait in wait/.
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
#include "fabric/operations/quick_lock.hpp"
#include "fabric/protocol/admission.hpp"
#include "fabric/protocol/coalescer.hpp"
#include "fabric/protocol/messages.hpp"
#include "fabric/protocol/pending_acks.hpp"
#include "fabric/protocol/pool.hpp"
#include "fabric/protocol/rdma.hpp"
#include "fabric/protocol/server.hpp"
#include "fabric/protocol/transforming.hpp"
#include "transport/transport.hpp"
#include "wait/completion_flag.hpp"

namespace lull::fabric {

// Where the answer of a get or a fetch arrives. Must stay where it is until done.
struct reply {
  void* destination = nullptr;
  std::size_t bytes = 0;  // that arrive
  wait::completion_flag done{};
  // With a block_descriptor the bytes are blocks, from the number `first` on, that are scattered from `destination`.
  const block_descriptor* blocks = nullptr;
  std::size_t first = 0, count = 0;
  // Set by `protocol` in replies of its own, which count there and are recycled when done.
  outstanding* of = nullptr;
  pe_id by{0};
};

// LULL_COALESCE and LULL_COALESCE_US.
struct coalescing {
  std::size_t message_bytes;  // 0: none are coalesced
  std::int64_t longest_ns;
};

using make_transport = std::function<std::unique_ptr<transport::transport>(transport::receiver&)>;

class protocol final : transport::receiver {
 public:
  protocol(pe_id me, int pes, const served_memory& memory, protocol_hooks hooks, const make_transport& make,
           const coalescing& small_puts, const rdma_settings& by_network = {});
  ~protocol();
  protocol(const protocol&) = delete;
  protocol& operator=(const protocol&) = delete;

  // What others must know to send to this PE: its key and its address. For PEs of the job alone.
  [[nodiscard]] std::vector<std::byte> contact() const;
  void introduce(pe_id pe, std::span<const std::byte> contact);  // before the first operation on that PE
  [[nodiscard]] int connections() const;                         // PEs that this one has sent anything to
  [[nodiscard]] std::uint64_t refused() const { return admission_.refused(); }  // messages of strangers
  // What the network reaches of this PE's memory by itself, and how; null: nothing. For one thread, before others send.
  [[nodiscard]] transport::remote_memory* remote_memory() { return transport_->remote(); }
  void disconnect();  // collective in effect: call when no peer will send any more

  // The way of nearly all of many small puts: into the message that is open for others of this context, with no more than
  // a quick lock and a copy. False: there is none, or it is not to be; nothing has happened.
  [[nodiscard]] bool join(const outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
                          transforming how) {
    if (bytes >= put_transformer::least_timed_copy || !coalescer_.any()) return false;
    const std::lock_guard quickly(quick_);
    if (!transformer_.goes_on(pe, bytes, how) || !coalescer_.add_another(of, pe, offset, source, bytes)) return false;
    transformer_.joined(pe, bytes);
    return true;
  }
  // `sent`, when given, turns true as soon as the source may be reused; without it the source must stay until complete.
  void put(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
           const signal_amo* signal, std::atomic<bool>* sent, transforming how = transforming::automatic);
  // Of a put whose `sent` was not true at once: so long it took.
  void waited_for_source(std::size_t bytes, std::int64_t ns);
  // What is put from now on is behind a fence of this context.
  void fenced(const outstanding& of);
  void get(pe_id pe, std::size_t offset, reply& answer);
  void get_nbi(outstanding& of, pe_id pe, std::size_t offset, void* destination, std::size_t bytes);
  void non_fetching(outstanding& of, pe_id pe, const amo& u);
  void fetching(pe_id pe, const amo& u, reply& answer);  // the old value, u.width bytes
  void fetching_nbi(outstanding& of, pe_id pe, const amo& u, void* old_value);

  // `count` blocks of `there` from the number `first` on, at `offset` of `pe`; `packed` one behind the other in what
  // room_for_blocks() gave. At most message_bytes of them, or one block.
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

  // Completion of a context's operations; the first call also sends what was still being coalesced.
  void tickets(const outstanding& of, std::vector<ticket>& result);
  [[nodiscard]] bool reached(const outstanding& of, std::vector<ticket>& waiting) const {
    return completion_.reached(of, waiting);
  }
  void complete(outstanding& of);
  [[nodiscard]] static bool must_complete_to_order(const outstanding& of) { return of.overtakable(); }
  [[nodiscard]] bool all_complete() const { return completion_.all(); }  // everything ever sent has been applied
  [[nodiscard]] std::uint64_t under_way(pe_id pe) const { return completion_.under_way(pe); }

  [[nodiscard]] transforming_counts transformed() const;
  [[nodiscard]] rdma_counts by_rdma() const;
  // What was chosen, and what it came to: which transfers are left to the network, and, if `rewriting`, which puts are rewritten.
  [[nodiscard]] std::vector<model::choice_account> choices(bool rewriting) const;
  bool progress();  // handles what has arrived, sends what is due; whether there was any
  // The same, unless another thread is about it: then this one would only wait for the lock, and do what is done already.
  bool progress_unless_another_does();
  void flush();  // sends what is being coalesced
  // Grows while a caller that sends one message after the other also makes opportunistic progress.
  [[nodiscard]] std::uint64_t opportunistic_rounds() const { return opportunistic_.load(std::memory_order_relaxed); }
  [[nodiscard]] int event_fd() const { return transport_->event_fd(); }
  [[nodiscard]] int deadline_fd() const { return coalescer_.deadline_fd(); }
  [[nodiscard]] bool arm();  // true: event_fd() will become readable at the next event; false: progress first

 private:
  friend struct message;

  void received(unsigned kind, std::span<const std::byte> header, const transport::incoming& payload) override;
  void on_reply(std::span<const std::byte> header, const transport::incoming& payload);
  void on_acknowledge(std::span<const std::byte> header);
  void answered(reply& answer);

  // In protocol_rdma.cpp. False: it is not to be, and nothing has happened.
  bool put_by_rdma(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
                   const signal_amo* signal, std::atomic<bool>* sent);
  bool get_by_rdma(outstanding* of, pe_id pe, std::size_t offset, void* destination, std::size_t bytes, reply* answer);
  bool fetch_by_rdma(outstanding* of, pe_id pe, const amo& u, void* old_value, reply* answer);
  void send_due();  // what operations by RDMA want said
  [[nodiscard]] model::put_costs costs() const;

  bool progress_locked();
  void opportunistic_progress();  // after a message of the caller's own
  void send_answers();
  message& new_message(std::atomic<bool>* sent = nullptr);
  message& prepared(pool<message>& from, std::atomic<bool>* sent);
  void sent(message& m);
  [[noreturn]] void lose(const char* what, const char* why);
  reply& new_reply(outstanding& of, pe_id by, void* destination, std::size_t bytes);
  [[nodiscard]] envelope to(pe_id pe) const { return {admission_.key_of(pe), me_.index()}; }
  void issue(outstanding& of, pe_id pe, std::size_t free_bytes = 0);
  void coalesce(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
                put_transformer::way how);
  [[nodiscard]] bool add_to_open(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
                                 bool joins);
  // What has been coalesced for it, if anything has.
  bool send_coalesced(pe_id pe, put_transformer::leaving why = put_transformer::leaving::in_time);
  void send_before_other(pe_id pe);  // the same, before an operation of another kind
  [[nodiscard]] put_transformer::way next_put(pe_id pe, std::size_t bytes, transforming how);
  [[nodiscard]] bool copies(std::size_t bytes, transforming how);
  [[nodiscard]] std::vector<coalescer::late_message> overdue();
  void flush_locked();
  template <class Header>
  void send(pe_id pe, message_kind kind, message& m, const Header& header, const void* data = nullptr,
            std::size_t bytes = 0, transport::order wanted = transport::order::kept);

  mutable std::mutex lock_;  // guards everything below but what is atomic
  pe_id me_;
  protocol_hooks hooks_;
  admission admission_;
  completion completion_;
  pending_acks acks_;
  server server_;
  // Guards these two, so that a put that joins others needs no more; taken last where both are needed.
  mutable quick_lock quick_;
  put_transformer transformer_;
  coalescer coalescer_;
  pool<message> messages_, coalesced_messages_;
  pool<reply> replies_;  // of non-blocking gets and fetches
  unsigned sent_since_progress_ = 0, messages_seen_ = 0;
  bool awaited_ = false;  // an answer to this PE has come since progress began
  std::atomic<std::uint64_t> opportunistic_{0};
  std::optional<rdma> rdma_;                         // none: the network carries out nothing by itself
  std::unique_ptr<transport::transport> transport_;  // the first to go: it calls all above
};

}  // namespace lull::fabric
