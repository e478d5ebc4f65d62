// The assembled runtime of one PE: who is here, the symmetric heaps, the transfers, the waiting.
//
// States: constructed (collective: all PEs of the job construct it together) → in use → finalize() (collective) → gone.
// A symmetric address is an address in this PE's heap; the same offset names the same object in every PE's heap.
// Operations choose their way by the PE: memory shared with it, or messages (remote.hpp). put and change complete at
// quiet(); get, fetch and put with `blocking` return when their buffers may be used. The data operations may be called
// from one thread at a time.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "fabric/agent.hpp"
#include "fabric/bootstrap.hpp"
#include "fabric/heap.hpp"
#include "fabric/layout.hpp"
#include "fabric/remote.hpp"
#include "fabric/segment.hpp"
#include "fabric/wait/waiting.hpp"

namespace lull::fabric {

// What stands at the beginning of every PE's segment, before its heap.
struct pe_header {
  std::uint64_t nonce;
  doorbell bell;
  // Used in the segment of a node's first PE only: the node's barrier. Counters only grow.
  alignas(64) std::atomic<std::uint64_t> arrived;
  alignas(64) std::atomic<std::uint64_t> completed;
  // Behind the header, by node: the last barrier at which it has arrived. As many as there are PEs: never too few.
  std::atomic<std::uint64_t>& node_arrived(int node) {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(this + 1)[node];
  }
};

// What has been put to other nodes since the last quiet, so that quiet can tell how long it may take.
class unconfirmed_puts {
 public:
  void add(std::size_t bytes, pe_id to) {
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    const int before = peer_.load(std::memory_order_relaxed);
    if (before != to.index()) peer_.store(before == nobody ? to.index() : several, std::memory_order_relaxed);
  }
  struct sum {
    std::size_t bytes;
    int peer;  // -1: several, or none
  };
  sum take() {
    const int peer = peer_.exchange(nobody, std::memory_order_relaxed);
    return {bytes_.exchange(0, std::memory_order_relaxed), peer == nobody ? several : peer};
  }

 private:
  static constexpr int several = -1, nobody = -2;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<int> peer_{nobody};
};

class world {
 public:
  world();
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  void finalize();
  // Collective: PE 0 gets what every PE gives here, in their order; the others get nothing. Once for each key.
  [[nodiscard]] std::vector<std::vector<std::byte>> tell_first_pe(const std::string& key,
                                                                  std::span<const std::byte> mine);
  [[noreturn]] void abort(int exit_code, const std::string& why) { boot_.abort(exit_code, why); }

  [[nodiscard]] pe_id me() const { return boot_.rank(); }
  [[nodiscard]] int pes() const { return boot_.size(); }
  [[nodiscard]] const layout& places() const { return *layout_; }
  [[nodiscard]] bool oversubscribed() const { return oversubscribed_; }

  // The symmetric heap. allocate() and release() are collective and do not synchronise; null when there is no room.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = 64);
  bool release(void* symmetric);
  [[nodiscard]] std::optional<std::size_t> size_of(const void* symmetric) const;
  [[nodiscard]] std::size_t offset_of(const void* symmetric) const {  // past the heap for any other address
    return static_cast<std::size_t>(static_cast<const std::byte*>(symmetric) - heap_base_);
  }
  [[nodiscard]] bool in_heap(const void* address) const { return offset_of(address) < heap_bytes_; }
  // The object at this symmetric address in `pe`'s heap, when this PE can load and store there; else null.
  [[nodiscard]] void* direct(const void* symmetric, pe_id pe) const {
    std::byte* const base = heap_of_[static_cast<std::size_t>(pe.index())];
    return base ? base + offset_of(symmetric) : nullptr;
  }

  void put(void* target, const void* source, std::size_t bytes, pe_id pe, bool blocking) {
    if (void* const there = direct(target, pe)) [[likely]] {
      deliver(there, source, bytes);
      bell_of(pe).ring();
    } else {
      put_remote(target, source, bytes, pe, nullptr, blocking);
    }
  }
  void put_signal(void* target, const void* source, std::size_t bytes, std::uint64_t* signal, std::uint64_t value,
                  bool add, pe_id pe, bool blocking);
  void get(void* destination, const void* source, std::size_t bytes, pe_id pe) {
    if (const void* const there = direct(source, pe)) [[likely]]
      std::memcpy(destination, there, bytes);
    else
      get_remote(destination, source, bytes, pe);
  }
  // Atomic operations on the 4- or 8-byte word at `target` of `pe`; u.offset is filled in here.
  void change(void* target, update u, pe_id pe) {
    if (void* const there = direct(target, pe)) [[likely]] {
      apply_update(u, there);
      bell_of(pe).ring_after_atomic();
    } else {
      change_remote(target, u, pe);
    }
  }
  std::uint64_t fetch(void* target, update u, pe_id pe) {
    if (void* const there = direct(target, pe)) [[likely]] {
      const std::uint64_t old = apply_update(u, there);
      bell_of(pe).ring_after_atomic();
      return old;
    }
    return fetch_remote(target, u, pe);
  }

  void fence();
  void quiet();
  void barrier();  // of all PEs; does not imply quiet()

  // Wakes `pe` if it sleeps, after a store into its memory through direct(). Only for PEs that share memory.
  doorbell& bell_of(pe_id pe) const { return headers_[static_cast<std::size_t>(pe.index())]->bell; }
  waiting& wait() { return *waiting_; }
  void drive() {  // one round of progress, for a caller that tests instead of waiting
    if (remote_) remote_->progress();
  }

 private:
  void exchange_and_map();
  void start_remote();
  void put_remote(void* target, const void* source, std::size_t bytes, pe_id pe, const signal_update* signal,
                  bool blocking);
  void get_remote(void* destination, const void* source, std::size_t bytes, pe_id pe);
  void change_remote(void* target, update u, pe_id pe);
  std::uint64_t fetch_remote(void* target, update u, pe_id pe);
  void wait_for_room(pe_id pe);
  void ring_node();
  void wake_sleeper() {
    if (agent* const serving = serving_.load(std::memory_order_acquire)) serving->wake_sleeper();
  }

  bootstrap boot_;
  std::size_t header_bytes_;
  std::size_t heap_bytes_;
  segment segment_;
  mapping own_;
  std::vector<mapping> peers_;  // by PE; empty for this PE and for those of other nodes
  std::byte* heap_base_ = nullptr;
  std::vector<std::byte*> heap_of_;  // by PE; null when it does not share memory
  std::vector<pe_header*> headers_;  // the same
  std::optional<layout> layout_;
  heap allocator_;
  bool oversubscribed_ = false;
  std::uint64_t unacknowledged_limit_;
  std::uint64_t barrier_epoch_ = 0;
  pe_header* leader_ = nullptr;     // of this node
  std::unique_ptr<remote> remote_;  // null when all PEs share memory
  std::unique_ptr<agent> agent_;
  std::atomic<agent*> serving_{nullptr};  // agent_, once it is complete
  unconfirmed_puts unconfirmed_;
  std::unique_ptr<waiting> waiting_;
};

}  // namespace lull::fabric
