// Everything that moves data between PEs: puts, gets, atomics, strided blocks, their order and their completion.
//
// The PE determines the path of an operation: memory shared with it, or messages (protocol.hpp). put, non_fetching and
// similar operations complete at quiet() of their context; get, fetch and puts with `blocking` return when their
// buffers may be used. Puts to other nodes may be rewritten (transforming.hpp). Several threads may call at once.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/thread_sanitizer.hpp"
#include "base/units.hpp"
#include "fabric/memory/symmetric_memory.hpp"
#include "fabric/operations/accumulate.hpp"
#include "fabric/operations/amo.hpp"
#include "fabric/operations/block_descriptor.hpp"
#include "fabric/protocol/progress_thread.hpp"
#include "fabric/protocol/protocol.hpp"
#include "fabric/transfers/context.hpp"
#include "wait/waiting.hpp"

namespace lull::fabric {

// The puts to other nodes since the last quiet, from which quiet predicts its duration.
class unconfirmed_puts {
 public:
  // The count is inexact where threads put at once: it serves a prediction and must cost nothing.
  void add(std::size_t bytes, pe_id to) {
    bytes_.store(bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
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

class transfers {
 public:
  // `remote` and `progress` are null if all PEs share memory.
  transfers(pe_id me, const symmetric_memory& memory, wait::waiting& waits, protocol* remote, progress_thread* progress,
            bool oversubscribed);

  context& default_context() { return default_; }

  void put(context& c, void* target, const void* source, std::size_t bytes, pe_id pe, bool blocking) {
    if (void* const there = memory_.direct(target, pe)) [[likely]] {
      deliver(there, source, bytes);
      memory_.bell_of(pe).ring_for_store();
    } else if (!join(c, target, source, bytes, pe)) {
      put_remote(c, target, source, bytes, pe, nullptr, blocking);
    }
  }
  // The signal word, also symmetric, changes after the data has arrived.
  struct signal {
    std::uint64_t* word;
    std::uint64_t value;
    amo_op how = amo_op::set;
    bool whole_node = false;  // any PE of the target's node may be waiting for it
  };
  void put_signal(context& c, void* target, const void* source, std::size_t bytes, const signal& then, pe_id pe,
                  bool blocking);
  void get(context& c, void* destination, const void* source, std::size_t bytes, pe_id pe) {
    if (const void* const there = memory_.direct(source, pe)) [[likely]]
      copy_bytes(destination, there, bytes);
    else
      get_remote(c, destination, source, bytes, pe);
  }
  void get_nbi(context& c, void* destination, const void* source, std::size_t bytes, pe_id pe) {
    if (const void* const there = memory_.direct(source, pe)) [[likely]]
      copy_bytes(destination, there, bytes);
    else
      get_nbi_remote(c, destination, source, bytes, pe);
  }

  // Atomic operations on the 4- or 8-byte word at `target` of `pe`; u.offset is set here.
  void non_fetching(context& c, void* target, amo u, pe_id pe) {
    if (void* const there = memory_.direct(target, pe)) [[likely]] {
      apply_amo(u, there);
      memory_.bell_of(pe).ring_for_store_after_atomic();
    } else if (!join(c, target, u, pe)) {
      non_fetching_remote(c, target, u, pe);
    }
  }
  std::uint64_t fetching(context& c, void* target, amo u, pe_id pe) {
    if (void* const there = memory_.direct(target, pe)) [[likely]] {
      const std::uint64_t old = apply_amo(u, there);
      memory_.bell_of(pe).ring_for_store_after_atomic();
      tsan_acquire();
      if (remote_ && pe == me_ && u.op == amo_op::fetch) polled_own_memory();
      return old;
    }
    return fetching_remote(c, target, u, pe);
  }
  // The old value, u.width bytes, is at `old_value` after quiet().
  void fetching_nbi(context& c, void* old_value, void* target, amo u, pe_id pe);

  // Strided blocks: those of `there` at `target` of `pe`, and those of `here` in this PE's memory, which has as many
  // blocks of the same size. They complete like put and get.
  void put_strided(context& c, void* target, const block_descriptor& there, const void* source,
                   const block_descriptor& here, pe_id pe);
  void get_strided(context& c, void* destination, const block_descriptor& here, const void* source,
                   const block_descriptor& there, pe_id pe);
  // target += factor · source, element by element; the source may be reused on return.
  void accumulate(context& c, void* target, const block_descriptor& there, const void* source,
                  const block_descriptor& here, const axpy& how, pe_id pe);

  void fence(context& c);
  void quiet(context& c);
  void quiet(context& c, std::span<const pe_id> pes);  // completes only the operations on these PEs
  [[nodiscard]] transforming_counts transformed() const {
    return remote_ ? remote_->transformed() : transforming_counts{};
  }
  [[nodiscard]] rdma_counts by_rdma() const { return remote_ ? remote_->by_rdma() : rdma_counts{}; }
  // The choices about transfers to other nodes, and how they turned out.
  [[nodiscard]] std::vector<model::choice_account> choices() const {
    return remote_ ? remote_->choices(transform_ == transforming::automatic) : std::vector<model::choice_account>{};
  }
  [[nodiscard]] transforming transform() const { return transform_; }
  void send_coalesced() {  // what would otherwise wait for more to join it
    if (remote_) remote_->flush();
  }
  void drive() {  // one round of progress, for a caller that tests instead of waiting
    if (oversubscribed_) wait::waiting::pass_on();
    if (progress_) progress_->test();
  }

  // The last call: returns when everything that this PE has sent is applied.
  void all_complete();

 private:
  void put_remote(context& c, void* target, const void* source, std::size_t bytes, pe_id pe, const signal_amo* signal,
                  bool blocking);
  // Adds the put, or the atomic, to a message with others, if one is open. It has its place in the order of its PE
  // already.
  [[nodiscard]] bool join(const context& c, void* target, const void* source, std::size_t bytes, pe_id pe);
  [[nodiscard]] bool join(const context& c, void* target, amo u, pe_id pe);
  [[nodiscard]] transforming rewriting(const context& c) const {
    const transforming how = c.transform.value_or(transform_);
    return how == transforming::automatic && c.batch.load(std::memory_order_relaxed) ? transforming::on : how;
  }
  void get_nbi_remote(context& c, void* destination, const void* source, std::size_t bytes, pe_id pe);
  void get_remote(context& c, void* destination, const void* source, std::size_t bytes, pe_id pe);
  void non_fetching_remote(context& c, void* target, amo u, pe_id pe);
  std::uint64_t fetching_remote(context& c, void* target, amo u, pe_id pe);
  void send_strided(context& c, void* target, const block_descriptor& there, const void* source,
                    const block_descriptor& here, const axpy* how, pe_id pe);
  // Before another operation on `pe`.
  void wait_for_room(const context& c, wait::operation what, pe_id pe) {
    if (remote_->under_way(pe) >= most_outstanding_) [[unlikely]]
      wait_until_there_is_room(c, what, pe);
  }
  void wait_until_there_is_room(const context& c, wait::operation what, pe_id pe);
  void wait_for(reply& answer, wait::awaited what);
  void polled_own_memory();

  pe_id me_;
  const symmetric_memory& memory_;
  wait::waiting& waits_;
  protocol* remote_;
  progress_thread* progress_;
  bool oversubscribed_;
  transforming transform_;          // of contexts that do not set their own
  std::uint64_t most_outstanding_;  // operations on one PE
  unconfirmed_puts unconfirmed_;
  context default_;
};

}  // namespace lull::fabric
