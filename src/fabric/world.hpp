// The assembled runtime of one PE: who is here, the symmetric memory, the transfers, the waiting.
//
// States: constructed (collective: all PEs of the job construct it together) → in use → finalize() (collective) → gone.
// Symmetric memory is the heap and, unless LULL_STATIC_DATA=private, the executable's global and static variables. A
// symmetric address is an address in this PE's symmetric memory; the same offset names the same object in every PE's.
// Operations choose their way by the PE: memory shared with it, or messages (remote.hpp). put, change and their
// relatives complete at quiet() of their context; get, fetch and puts with `blocking` return when their buffers may be
// used. Operations may be called from several threads at once; allocate(), release(), finalize() and collective calls
// on one team from one at a time.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "fabric/agent.hpp"
#include "fabric/context.hpp"
#include "fabric/heap.hpp"
#include "fabric/remote.hpp"
#include "fabric/rooms.hpp"
#include "fabric/static_data.hpp"
#include "job/bootstrap.hpp"
#include "job/layout.hpp"
#include "job/segment.hpp"
#include "wait/waiting.hpp"

namespace lull::fabric {

class team;
class team_slots;

// What stands at the beginning of every PE's segment, before its heap.
struct pe_header {
  std::uint64_t nonce;
  doorbell bell;
  shared_lock accumulating;
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
  [[nodiscard]] int cores_of_host() const { return cores_of_host_; }  // that its PEs may use, taken together
  [[nodiscard]] bool checks() const { return checks_; }               // LULL_CHECK: look for mistakes of the program
  // Whether calls are looked at, by checks or for statistics.
  [[nodiscard]] bool watched() const { return watched_.load(std::memory_order_relaxed); }
  void count_calls(bool on) {  // for the statistics, if there are any
    wait().keep_table(on);
    watched_.store(checks_ || wait().statistics_on(), std::memory_order_relaxed);
  }

  // The symmetric heap. allocate() and release() are collective and do not synchronise; null when there is no room.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = 64);
  bool release(void* symmetric);
  [[nodiscard]] std::optional<std::size_t> size_of(const void* symmetric) const;

  // Where a symmetric address stands in symmetric memory: the heap, then the static data; past both for any other,
  // where nobody can load or store (segment.hpp).
  [[nodiscard]] std::size_t offset_of(const void* symmetric) const {
    const auto in_heap = static_cast<std::size_t>(static_cast<const std::byte*>(symmetric) - heap_base_);
    if (in_heap < heap_bytes_) [[likely]]
      return in_heap;
    const auto in_static = static_cast<std::size_t>(static_cast<const std::byte*>(symmetric) - static_.begin);
    return in_static < static_.bytes ? heap_bytes_ + in_static : symmetric_bytes_;
  }
  [[nodiscard]] bool is_symmetric(const void* address, std::size_t bytes = 1) const {
    const std::size_t offset = offset_of(address);
    const std::size_t end = offset < heap_bytes_ ? heap_bytes_ : symmetric_bytes_;
    return offset < end && bytes <= end - offset;
  }
  // The object at this symmetric address in `pe`'s memory, when this PE can load and store there; else null.
  [[nodiscard]] void* direct(const void* symmetric, pe_id pe) const {
    std::byte* const base = memory_of_[static_cast<std::size_t>(pe.index())];
    return base ? base + offset_of(symmetric) : nullptr;
  }

  context& default_context() { return default_; }

  void put(context& c, void* target, const void* source, std::size_t bytes, pe_id pe, bool blocking) {
    if (void* const there = direct(target, pe)) [[likely]] {
      deliver(there, source, bytes);
      bell_of(pe).ring_for_store();
    } else {
      put_remote(c, target, source, bytes, pe, nullptr, blocking);
    }
  }
  // The signal, symmetric too, changes after the data has arrived.
  struct signal {
    std::uint64_t* word;
    std::uint64_t value;
    update_op how = update_op::set;
    bool whole_node = false;  // all PEs of the target's node may be waiting for it
  };
  void put_signal(context& c, void* target, const void* source, std::size_t bytes, const signal& then, pe_id pe,
                  bool blocking);
  void get(context& c, void* destination, const void* source, std::size_t bytes, pe_id pe) {
    if (const void* const there = direct(source, pe)) [[likely]]
      copy_bytes(destination, there, bytes);
    else
      get_remote(c, destination, source, bytes, pe);
  }
  void get_nbi(context& c, void* destination, const void* source, std::size_t bytes, pe_id pe) {
    if (const void* const there = direct(source, pe)) [[likely]]
      copy_bytes(destination, there, bytes);
    else
      remote_->get_nbi(c.book_, pe, offset_of(source), destination, bytes);
  }

  // Atomic operations on the 4- or 8-byte word at `target` of `pe`; u.offset is filled in here.
  void change(context& c, void* target, update u, pe_id pe) {
    if (void* const there = direct(target, pe)) [[likely]] {
      apply_update(u, there);
      bell_of(pe).ring_for_store_after_atomic();
    } else {
      change_remote(c, target, u, pe);
    }
  }
  std::uint64_t fetch(context& c, void* target, update u, pe_id pe) {
    if (void* const there = direct(target, pe)) [[likely]] {
      const std::uint64_t old = apply_update(u, there);
      bell_of(pe).ring_for_store_after_atomic();
      tsan_acquire();
      if (remote_ && pe == me() && u.op == update_op::fetch) polled_own_memory();
      return old;
    }
    return fetch_remote(c, target, u, pe);
  }
  // The old value, u.width bytes, stands at `old_value` after quiet().
  void fetch_nbi(context& c, void* old_value, void* target, update u, pe_id pe);

  // Non-contiguous blocks: the pieces of `there` at `target` of `pe`, those of `here` in this PE's memory, which has as
  // many pieces of the same size. Complete as put and get do.
  void put_pieces(context& c, void* target, const shape& there, const void* source, const shape& here, pe_id pe);
  void get_pieces(context& c, void* destination, const shape& here, const void* source, const shape& there, pe_id pe);
  // target += factor · source, element by element; the source may be reused on return.
  void accumulate(context& c, void* target, const shape& there, const void* source, const shape& here,
                  const scaled& how, pe_id pe);

  void fence(context& c);
  void quiet(context& c);

  [[nodiscard]] std::byte* team_blocks() const { return team_blocks_; }  // symmetric; see team.hpp
  team_slots& slots() { return *slots_; }
  team& everybody() { return *everybody_; }    // all PEs; slot 0
  team& neighbours() { return *neighbours_; }  // those that share memory with this one; slot 1

  // Wakes `pe` if it sleeps, after a store into its memory through direct(). Only for PEs that share memory.
  doorbell& bell_of(pe_id pe) const { return headers_[static_cast<std::size_t>(pe.index())]->bell; }
  void ring_node();  // wakes all that share memory with this PE
  waiting& wait() { return *waiting_; }
  void drive() {  // one round of progress, for a caller that tests instead of waiting
    if (oversubscribed_) wait().pass_on();
    if (agent_) agent_->test();
  }

 private:
  void exchange_and_map();
  void start_remote();
  void put_remote(context& c, void* target, const void* source, std::size_t bytes, pe_id pe,
                  const signal_update* signal, bool blocking);
  void get_remote(context& c, void* destination, const void* source, std::size_t bytes, pe_id pe);
  void change_remote(context& c, void* target, update u, pe_id pe);
  std::uint64_t fetch_remote(context& c, void* target, update u, pe_id pe);
  void send_pieces(context& c, void* target, const shape& there, const void* source, const shape& here,
                   const scaled* how, pe_id pe);
  void wait_for_room(const context& c, pe_id pe);
  void polled_own_memory();
  void wake_sleeper() {
    if (agent* const serving = serving_.load(std::memory_order_acquire)) serving->wake_sleeper();
  }

  bootstrap boot_;
  bool checks_;
  std::atomic<bool> watched_{false};
  std::size_t header_bytes_;
  std::size_t heap_bytes_;
  static_range static_;
  std::size_t symmetric_bytes_;
  segment segment_;
  mapping own_;
  std::vector<mapping> peers_;  // by PE; empty for this PE and for those of other nodes
  std::byte* heap_base_ = nullptr;
  std::vector<std::byte*> memory_of_;  // by PE: its symmetric memory; null when it is not shared with this PE
  std::vector<pe_header*> headers_;    // the same
  std::optional<layout> layout_;
  heap allocator_;
  bool oversubscribed_ = false;
  int cores_of_host_ = 1;
  std::uint64_t unacknowledged_limit_;
  context default_;
  std::unique_ptr<remote> remote_;  // null when all PEs share memory
  std::unique_ptr<agent> agent_;
  std::atomic<agent*> serving_{nullptr};  // agent_, once it is complete
  unconfirmed_puts unconfirmed_;
  std::unique_ptr<waiting> waiting_;
  int most_teams_;
  std::byte* team_blocks_ = nullptr;
  std::unique_ptr<team> everybody_, neighbours_;
  std::unique_ptr<team_slots> slots_;
};

}  // namespace lull::fabric
