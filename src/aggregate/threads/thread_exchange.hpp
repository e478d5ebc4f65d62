// Items that the threads of a PE push for that PE itself. They go from thread to thread, without a shared buffer.
//
// The items of a PE fall into parts: one, unless its handler declares more. The items of one part are handled one at a
// time, by the thread that holds the part; items of different parts at the same time. Each pushing thread has a ring of
// blocks for each part, which it alone fills; the holder of the part empties it, in order. An item therefore takes no
// lock and no atomic operation, and writes no cache line that another thread writes. A block takes two counters and one
// lock, which is rarely contended. Items of one size are first written to a *stage* of a few KiB that stays in the
// nearest cache, and move to the block together, by whole lines: another core read the block's lines last, and getting
// such a line back takes as long for one item as for a whole line (docs/design/aggregation-speed.md, "Threads of a
// PE"). The threads divide the parts among themselves. A thread handles the parts of others only when it has nothing
// else to do and their own thread has not handled them for some time, because the cache of that thread's core holds
// their data.
//
// A ring has eight blocks, or four where memory is so short that eight would be small: going through more memory than
// the near caches hold costs less than writing to lines that another core has just read.
//
// Without parts, where handlers may run in any number of threads at once, a thread handles its own blocks itself.
//
// come(), go(), make_room(), give() and tend() of one `rings` belong to one thread; any thread may call the others.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "aggregate/hops/hop.hpp"
#include "aggregate/threads/chunk_budget.hpp"
#include "aggregate/threads/policy_lock.hpp"
#include "fabric/world.hpp"
#include "model/machine/machine.hpp"

namespace lull::aggregate {

class thread_exchange {
  static constexpr std::size_t most_blocks = 8;  // of a ring
  static constexpr std::size_t line = 64;

  // Allocates memory aligned to a cache line.
  template <class T>
  struct by_lines {
    using value_type = T;
    by_lines() = default;
    template <class Other>
    explicit by_lines(const by_lines<Other>& /*other*/) {}
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{line})); }
    void deallocate(T* memory, std::size_t /*n*/) { ::operator delete (memory, std::align_val_t{line}); }
    bool operator==(const by_lines& /*other*/) const { return true; }
  };
  using lines = std::vector<std::byte, by_lines<std::byte>>;

  struct block {
    lines memory;
    std::size_t bytes = 0;  // of its items
  };
  struct ring {
    alignas(line) cursor at;       // by the pushing thread, like the stage and the blocks; null: no block is open
    std::span<std::byte> stage{};  // empty: items are written to the block
    alignas(line) std::array<block, most_blocks> blocks;
    alignas(line) std::atomic<std::uint64_t> published{0};  // blocks
    alignas(line) std::atomic<std::uint64_t> consumed{0};   // by the thread that holds the part
  };

 public:
  // The rings of one thread.
  class rings {
   public:
    explicit rings(std::size_t parts) : of_part_(std::make_unique<ring[]>(parts)) {}
    [[nodiscard]] cursor* at(std::size_t part) { return &of_part_[part].at; }

   private:
    friend class thread_exchange;

    std::unique_ptr<ring[]> of_part_;
    lines stages_;
    std::size_t number_ = 0, block_bytes_ = 0, depth_ = most_blocks;        // depth: blocks in use per ring
    std::atomic<std::uint64_t> items_{0}, blocks_{0}, bytes_{0}, room_{0};  // published; written by its thread alone
    std::unique_ptr<rings> next_;
  };

  enum class handling : std::uint8_t { one_at_a_time, by_parts, at_once };

  // Applies a batch of items with `handler`.
  struct delivery {
    detail::apply_batch apply;
    void* handler;
  };

  // Blocks are smaller, and fewer, where `memory` is short.
  thread_exchange(fabric::world& world, const item_format& items, const delivery& to, handling how,
                  std::size_t cores_of_pe, const model::thread_block_sizes& most, chunk_budget& memory);
  thread_exchange(const thread_exchange&) = delete;
  thread_exchange& operator=(const thread_exchange&) = delete;
  ~thread_exchange();

  // A power of two. Each `rings` has one ring per part.
  [[nodiscard]] std::size_t parts() const { return parts_; }

  rings& make_rings();     // one caller at a time
  void come(rings& mine);  // before its first make_room()
  // Returns when the items pushed have been handled. Stays some microseconds until the other threads end, and handles
  // its parts until then.
  void go(rings& mine);
  void give_memory(rings& mine);  // of blocks, after go()

  // Makes room for an item. If that takes another block, handles the thread's own parts first. Returns whether it took
  // a block.
  bool make_room(rings& mine, std::size_t part, std::size_t item_bytes);
  void give(rings& mine);  // publishes blocks that are not full
  bool tend(rings& mine);  // handles the thread's own parts; returns whether there was anything
  void set_oversubscribed(bool oversubscribed);

  // Calls act() while no thread handles items of this PE that must not be handled at the same time.
  template <class Act>
  void exclusively(Act&& act) {
    if (how_ == handling::at_once) return act();
    const all_parts hold(*this);
    act();
  }

  [[nodiscard]] hop_counts counts() const;

 private:
  struct alignas(line) part {
    explicit part(fabric::world& world) : holder(world) {}
    policy_lock holder;
  };
  class all_parts {
   public:
    explicit all_parts(thread_exchange& of);
    ~all_parts();
    all_parts(const all_parts&) = delete;
    all_parts& operator=(const all_parts&) = delete;

   private:
    thread_exchange& of_;
  };

  [[nodiscard]] static bool room(const rings& mine, const ring& r) {
    return r.published.load(std::memory_order_relaxed) - r.consumed.load(std::memory_order_acquire) < mine.depth_;
  }
  [[nodiscard]] static bool empty(const ring& r) {
    return r.published.load(std::memory_order_acquire) == r.consumed.load(std::memory_order_acquire);
  }
  [[nodiscard]] static block& open_block(const rings& mine, ring& r) {
    return r.blocks[r.published.load(std::memory_order_relaxed) % mine.depth_];
  }
  void make_stages(rings& mine);
  void open(rings& mine, ring& r, std::size_t item_bytes);
  static void commit(const rings& mine, ring& r);
  static void place_cursor(ring& r, block& open);
  void publish(rings& mine, ring& r);
  void apply(const block& items);
  [[nodiscard]] bool anything_for(std::size_t part) const;
  bool handle(std::size_t part);      // by its holder
  bool try_handle(std::size_t part);  // unless another thread holds it
  void leave_others_to_theirs(rings& mine);
  bool help(const rings& mine);  // with any part
  template <class Ready>
  void handle_until(const rings& mine, std::size_t part, Ready&& ready);

  fabric::world& world_;
  item_format items_;
  delivery to_;
  handling how_;
  std::size_t parts_;
  model::thread_block_sizes most_;
  chunk_budget& memory_;
  std::vector<std::unique_ptr<part>> locks_;
  std::atomic<int> pushing_{0};  // threads between come() and go()
  std::atomic<bool> oversubscribed_{false};
  std::unique_ptr<rings> owner_;         // the newest, which owns the one made before it, and so on
  std::atomic<rings*> newest_{nullptr};  // owner_, for readers
};

}  // namespace lull::aggregate
