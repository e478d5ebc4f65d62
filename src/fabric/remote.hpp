// Transfers between nodes: UCX active messages, one worker and one lock per process.
//
// Every operation on a PE of another node becomes one message that the other process applies to its own heap, whoever
// drives its progress there: its waiting main thread or its agent. So a transfer progresses while its target computes
// or sleeps. Offsets are into the symmetric heap; they are checked where they arrive.
//
//   put, update        complete at quiet(): the target acknowledges, many at a time
//   get, fetch         complete when `reply::done` turns true, which this process's progress does
//
// May be called from any thread of the process. No call waits; the callers wait in fabric/wait/.
#pragma once
#include <ucp/api/ucp.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/units.hpp"

namespace lull::fabric {

enum class update_op : std::uint8_t { add, set, compare_swap, fetch, bit_and, bit_or, bit_xor };

// An atomic operation on a 4- or 8-byte word at `offset`.
struct update {
  update_op op;
  std::uint8_t width;
  std::size_t offset;
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;
};

// Applies `u` to the word at `where`; the old value. The one implementation, for local and remote callers alike.
std::uint64_t apply_update(const update& u, void* where);

// Copies a block into a heap in which somebody may be waiting for it: a block that is one aligned word arrives as a
// whole and after everything written before it, so a put of a word may serve as a flag.
inline void deliver(void* target, const void* source, std::size_t bytes) {
  const auto store = [&]<class Word>(Word word) {
    std::memcpy(&word, source, sizeof word);
    std::atomic_ref<Word>(*static_cast<Word*>(target)).store(word, std::memory_order_release);
  };
  const bool aligned = reinterpret_cast<std::uintptr_t>(target) % std::max<std::size_t>(bytes, 1) == 0;
  if (bytes == 8 && aligned)
    store(std::uint64_t{});
  else if (bytes == 4 && aligned)
    store(std::uint32_t{});
  else if (bytes == 2 && aligned)
    store(std::uint16_t{});
  else
    std::memcpy(target, source, bytes);
}

// Written beside the data, after it: how a receiver learns that a put is complete.
struct signal_update {
  std::size_t offset;
  std::uint64_t value;
  bool add;  // else set
};

// Where the answer of a get or a fetch arrives. Must stay where it is until done.
struct reply {
  void* destination = nullptr;
  std::size_t bytes = 0;
  std::atomic<bool> done{false};
};

struct remote_hooks {
  std::function<void()> memory_changed;                                    // this PE's heap was written
  std::function<void(node_id from, std::uint64_t epoch)> barrier_arrival;  // another node arrived at a barrier
};

class remote {
 public:
  remote(pe_id me, int pes, std::span<std::byte> heap, remote_hooks hooks);
  ~remote();
  remote(const remote&) = delete;
  remote& operator=(const remote&) = delete;

  [[nodiscard]] std::vector<std::byte> address() const;
  void connect(pe_id pe, std::vector<std::byte> address);  // before the first operation on that PE
  void disconnect();                                       // collective in effect: call when no peer will send any more

  // `sent`, when given, turns true as soon as the source may be reused; without it the source must stay until quiet.
  void put(pe_id pe, std::size_t offset, const void* source, std::size_t bytes, const signal_update* signal,
           std::atomic<bool>* sent);
  void get(pe_id pe, std::size_t offset, reply& answer);
  void change(pe_id pe, const update& u);                // no answer
  void fetch(pe_id pe, const update& u, reply& answer);  // the old value, u.width bytes
  void arrive(pe_id leader, node_id my_node, std::uint64_t epoch);

  [[nodiscard]] bool quiet() const;  // everything sent has been applied
  [[nodiscard]] std::uint64_t unacknowledged(pe_id pe) const;
  [[nodiscard]] bool ordered() const { return !large_put_.load(std::memory_order_relaxed); }

  bool progress();  // handles what has arrived, sends what is due; whether there was any
  // Grows while a caller that sends one message after the other also drives the progress itself, in passing.
  [[nodiscard]] std::uint64_t rounds_in_passing() const { return rounds_in_passing_.load(std::memory_order_relaxed); }
  [[nodiscard]] int event_fd() const { return event_fd_; }
  [[nodiscard]] bool arm();  // true: event_fd() will become readable at the next event; false: progress first

 private:
  struct peer {
    ucp_ep_h endpoint = nullptr;
    std::vector<std::byte> address;
    std::uint64_t issued = 0;  // under the lock
    std::atomic<std::uint64_t> acknowledged{0};
    std::uint32_t owed = 0;  // acknowledgements this process owes it, under the lock
  };
  struct message;  // a message on its way, with the header UCX reads until it is sent
  struct arrival;  // a large put being received
  struct answer_due {
    pe_id to;
    std::uint64_t token;
    std::size_t offset, bytes;  // of the heap, or bytes ≤ 8 of `value`
    bool immediate;
    std::uint64_t value;
  };

  template <ucs_status_t (remote::*Member)(const void*, std::size_t, void*, std::size_t, bool)>
  static ucs_status_t handler(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                              const ucp_am_recv_param_t* param);
  template <ucs_status_t (remote::*Member)(const void*, std::size_t, void*, std::size_t, bool)>
  void listen(unsigned id);

  ucs_status_t on_put(const void* header, std::size_t header_bytes, void* data, std::size_t bytes, bool rendezvous);
  ucs_status_t on_get(const void* header, std::size_t header_bytes, void* data, std::size_t bytes, bool rendezvous);
  ucs_status_t on_reply(const void* header, std::size_t header_bytes, void* data, std::size_t bytes, bool rendezvous);
  ucs_status_t on_update(const void* header, std::size_t header_bytes, void* data, std::size_t bytes, bool rendezvous);
  ucs_status_t on_acknowledge(const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                              bool rendezvous);
  ucs_status_t on_arrive(const void* header, std::size_t header_bytes, void* data, std::size_t bytes, bool rendezvous);

  bool progress_locked();
  void progress_in_passing();  // after a message of the caller's own
  message& new_message(std::atomic<bool>* sent);
  void send(peer& to, unsigned id, message& m, std::size_t header_bytes, const void* data, std::size_t bytes);
  void put_applied(const void* header);
  [[nodiscard]] std::byte* at(std::size_t offset, std::size_t bytes, const char* what) const;
  peer& peer_of(pe_id pe) { return peers_[static_cast<std::size_t>(pe.index())]; }

  mutable std::mutex lock_;  // guards the worker and everything below but the atomics
  pe_id me_;
  std::span<std::byte> heap_;
  remote_hooks hooks_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int event_fd_ = -1;
  std::vector<peer> peers_;
  std::vector<std::unique_ptr<message>> messages_;  // all ever made; the free ones are also in free_
  std::vector<message*> free_;
  std::vector<answer_due> answers_;
  std::vector<pe_id> owing_;
  unsigned sent_since_progress_ = 0;
  std::atomic<std::uint64_t> rounds_in_passing_{0};
  std::atomic<std::uint64_t> issued_{0}, acknowledged_{0};
  mutable std::atomic<bool> large_put_{false};  // one large enough to overtake later ones may be under way
};

}  // namespace lull::fabric
