// Transfers between nodes: UCX active messages, one worker and one lock per process.
//
// Every operation on a PE of another node becomes one message that the other process applies to its own heap, whoever
// drives its progress there: its waiting main thread or its agent. So a transfer progresses while its target computes
// or sleeps. Offsets are into the symmetric memory; they are checked where they arrive.
//
//   put, change, scatter, accumulate   complete when settled(): the target acknowledges, many messages at a time
//   get, fetch, gather                 complete when `reply::done` turns true, or, with no reply of the caller's own,
//                                      when settled()
//
// Small non-blocking puts to one PE are combined into one message, which leaves when it is full, when anything else is
// sent to that PE, at flush(), or after LULL_COMBINE_US. Messages to one PE are applied in the order of the calls,
// except that one whose data go by rendezvous may be overtaken: from UCX_RNDV_THRESH on, 1 MiB unless set.
//
// A PE is connected to those that it sends to, from the first message on. Each PE has a key, drawn at random, that only
// the PEs of its job learn, by PMIx; a message without it is dropped, whoever it came from.
//
// May be called from any thread of the process. No call waits; the callers wait in wait/.
#pragma once
#include <ucp/api/ucp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "fabric/accumulate.hpp"
#include "fabric/rooms.hpp"
#include "fabric/shape.hpp"
#include "fabric/update.hpp"

namespace lull::fabric {

class ledger;
struct envelope;

// Where the answer of a get or a fetch arrives. Must stay where it is until done.
struct reply {
  void* destination = nullptr;
  std::size_t bytes = 0;  // that arrive
  std::atomic<bool> done{false};
  // With a shape the bytes are pieces, from the number `first` on, that are scattered from `destination`.
  const shape* pieces = nullptr;
  std::size_t first = 0, count = 0;
  ledger* book = nullptr;  // set by `remote` in replies of its own, which count there and are recycled when done
};

// What a context has under way towards other nodes. Its members are guarded by the lock of `remote`, save the atomics.
class ledger {
 public:
  [[nodiscard]] bool settled() const { return !dirty_.load(std::memory_order_acquire); }

 private:
  friend class remote;
  std::vector<std::uint64_t> last_;            // by PE: the number of the last message to it; empty before the first
  std::vector<pe_id> touched_;                 // those that may not have acknowledged all
  std::atomic<std::uint64_t> replies_due_{0};  // of gets and fetches without a reply of the caller's
  std::atomic<bool> dirty_{false};             // something may be under way
  std::atomic<bool> overtakable_{false};       // there is a message that later ones may overtake
};

struct remote_hooks {
  std::function<void()> memory_changed;       // this PE's memory was written, or a message of its own went or came
  std::function<void()> node_memory_changed;  // as a signal that concerns all PEs of this node
};

struct remote_settings {
  std::size_t combine_bytes = 16384;    // of one message of combined puts; 0: none are combined
  std::int64_t combine_ns = 1'000'000;  // the longest that a combined put may wait
  bool one_host = false;  // all PEs stand on this host: listen on the loopback alone, unless UCX_NET_DEVICES is set
};

class remote {
 public:
  remote(pe_id me, int pes, std::span<std::byte> memory, shared_lock& accumulating, const remote_settings& wanted,
         remote_hooks hooks);
  ~remote();
  remote(const remote&) = delete;
  remote& operator=(const remote&) = delete;

  // What others must know to send to this PE: its key and its address. For PEs of the job alone.
  [[nodiscard]] std::vector<std::byte> contact() const;
  void meet(pe_id pe, std::span<const std::byte> contact);          // before the first operation on that PE
  [[nodiscard]] int connections() const;                            // PEs that this one has sent anything to
  [[nodiscard]] std::uint64_t refused() const { return refused_; }  // messages of strangers
  void disconnect();  // collective in effect: call when no peer will send any more

  // `sent`, when given, turns true as soon as the source may be reused; without it the source must stay until settled.
  void put(ledger& book, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
           const signal_update* signal, std::atomic<bool>* sent);
  void get(pe_id pe, std::size_t offset, reply& answer);
  void get_nbi(ledger& book, pe_id pe, std::size_t offset, void* destination, std::size_t bytes);
  void change(ledger& book, pe_id pe, const update& u);  // no answer
  void fetch(pe_id pe, const update& u, reply& answer);  // the old value, u.width bytes
  void fetch_nbi(ledger& book, pe_id pe, const update& u, void* old_value);

  // `count` pieces of `there` from the number `first` on, at `offset` of `pe`; `packed` one behind the other in what
  // room_for_pieces() gave. At most message_bytes of them, or one piece.
  static constexpr std::size_t message_bytes = std::size_t{256} << 10U;
  struct piece_message {
    std::vector<std::byte> payload;
    [[nodiscard]] std::byte* packed() { return payload.data() + sizeof(shape); }
  };
  [[nodiscard]] static piece_message room_for_pieces(const shape& there, std::size_t bytes);
  void scatter(ledger& book, pe_id pe, std::size_t offset, std::size_t first, std::size_t count, piece_message pieces,
               const scaled* add);
  void gather(pe_id pe, std::size_t offset, const shape& there, std::size_t first, std::size_t count, reply& answer);

  // Whether everything that `book` held at the call of due() has been applied.
  struct receipt {
    pe_id pe;
    std::uint64_t number;
  };
  void due(ledger& book, std::vector<receipt>& result);  // also sends what was still being combined
  [[nodiscard]] bool arrived(const ledger& book, std::vector<receipt>& waiting) const;  // drops those that have
  void settle(ledger& book);                                                            // after arrived()
  [[nodiscard]] bool must_settle_to_order(const ledger& book) const {
    return book.overtakable_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool quiet() const;  // everything ever sent has been applied
  [[nodiscard]] std::uint64_t unacknowledged(pe_id pe) const;

  bool progress();  // handles what has arrived, sends what is due; whether there was any
  void flush();     // sends what is being combined
  // Grows while a caller that sends one message after the other also drives the progress itself, in passing.
  [[nodiscard]] std::uint64_t rounds_in_passing() const { return rounds_in_passing_.load(std::memory_order_relaxed); }
  [[nodiscard]] int event_fd() const { return event_fd_; }
  [[nodiscard]] int deadline_fd() const { return deadline_fd_; }  // readable when a combined put has waited too long
  [[nodiscard]] bool arm();  // true: event_fd() will become readable at the next event; false: progress first

 private:
  struct message;  // one on its way, with the header and payload UCX reads until it is sent
  struct peer {
    ucp_ep_h endpoint = nullptr;  // from the first message on
    std::uint64_t key = 0;
    std::vector<std::byte> address;
    std::atomic<std::uint64_t> issued{0};  // changed under the lock
    std::atomic<std::uint64_t> acknowledged{0};
    std::uint32_t owed = 0;  // acknowledgements this process owes it
    std::uint32_t large_arriving =
        0;                         // puts whose data is still under way: later ones are not acknowledged before them
    message* combining = nullptr;  // the open message of combined puts
  };
  struct arrival;  // data on its way after its header
  struct answer_due {
    pe_id to;
    std::uint64_t token;
    std::size_t offset, bytes;  // of the memory, or bytes ≤ 8 of `value`
    bool immediate;
    std::uint64_t value;
    std::vector<std::byte> packed;  // or these
  };

  template <ucs_status_t (remote::*Member)(const void*, std::size_t, void*, std::size_t, bool)>
  static ucs_status_t handler(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                              const ucp_am_recv_param_t* param);
  template <ucs_status_t (remote::*Member)(const void*, std::size_t, void*, std::size_t, bool)>
  void listen(unsigned id);

  // Handlers of messages, called inside UCX's progress.
  ucs_status_t on_put(const void* header, std::size_t header_bytes, void* data, std::size_t bytes, bool rendezvous);
  ucs_status_t on_combined(const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                           bool rendezvous);
  ucs_status_t on_scatter(const void* header, std::size_t header_bytes, void* data, std::size_t bytes, bool rendezvous);
  ucs_status_t on_get(const void* header, std::size_t header_bytes, void* data, std::size_t bytes, bool rendezvous);
  ucs_status_t on_gather(const void* header, std::size_t header_bytes, void* data, std::size_t bytes, bool rendezvous);
  ucs_status_t on_reply(const void* header, std::size_t header_bytes, void* data, std::size_t bytes, bool rendezvous);
  ucs_status_t on_update(const void* header, std::size_t header_bytes, void* data, std::size_t bytes, bool rendezvous);
  ucs_status_t on_acknowledge(const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                              bool rendezvous);
  template <class Then>
  void receive(void* data, std::size_t bytes, void* destination, int from, Then&& then);
  void apply_combined(std::int32_t from, const std::byte* data, std::size_t bytes);
  void apply_scatter(const void* header, const std::byte* data, std::size_t bytes);

  [[nodiscard]] bool admits(const void* header, std::size_t header_bytes);
  bool progress_locked();
  void progress_in_passing();  // after a message of the caller's own
  void connect(peer& to);
  [[nodiscard]] envelope envelope_for(const peer& to) const;
  [[nodiscard]] bool may_be_overtaken(std::size_t bytes) const { return bytes != 0 && bytes >= rendezvous_from_; }
  message& new_message(std::atomic<bool>* sent);
  reply& new_reply(ledger& book, void* destination, std::size_t bytes);
  std::uint64_t enter(ledger& book, pe_id pe, std::size_t bytes = 0);  // numbers a message that will be acknowledged
  void combine(ledger& book, pe_id pe, std::size_t offset, const void* source, std::size_t bytes);
  void send_combined(peer& to);
  void flush_locked();
  void send(peer& to, unsigned id, message& m, std::size_t header_bytes, const void* data, std::size_t bytes);
  void put_applied(const void* header);
  void owe(std::int32_t from);
  void answered(reply& answer);
  [[nodiscard]] std::byte* at(std::size_t offset, std::size_t bytes, const char* what) const;
  [[nodiscard]] std::byte* at(std::size_t offset, const shape& there, const char* what) const;
  peer& peer_of(pe_id pe) { return peers_[static_cast<std::size_t>(pe.index())]; }

  mutable std::mutex lock_;  // guards the worker and everything below but the atomics
  pe_id me_;
  std::span<std::byte> memory_;
  shared_lock& accumulating_;
  remote_settings wanted_;
  remote_hooks hooks_;
  std::uint64_t key_;
  std::uint64_t refused_ = 0;
  std::size_t rendezvous_from_;  // bytes of data that go by rendezvous
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int event_fd_ = -1;
  int deadline_fd_ = -1;
  std::vector<peer> peers_;
  std::vector<std::unique_ptr<message>> messages_;  // all ever made; the free ones are also in free_
  std::vector<message*> free_;
  std::vector<std::unique_ptr<reply>> replies_;  // all ever made for non-blocking gets and fetches
  std::vector<reply*> free_replies_;
  std::vector<answer_due> answers_;
  std::vector<pe_id> owing_;
  std::vector<pe_id> combining_;  // PEs with an open message of combined puts
  std::atomic<bool> any_combining_{false};
  std::int64_t deadline_ns_ = 0;  // of the timer behind deadline_fd_; 0: not set
  unsigned sent_since_progress_ = 0;
  bool awaited_ = false;  // an answer to this PE has come since progress began
  std::atomic<std::uint64_t> rounds_in_passing_{0};
  std::atomic<std::uint64_t> issued_{0}, acknowledged_{0};
};

}  // namespace lull::fabric
