// One hop of a route: channels that lead from this PE to others, and what arrives on theirs.
//
// A channel has a cursor, where the next item is written. The items of a full buffer go to the other end, and arrive
// there in batches at the sink. States: open → close() → over() once everything has arrived in both directions →
// reopen().
//
// Threads: what fills and sends buffers (cursors, append, make_room, flush, close, counts, waiting_items) is used by
// one thread at a time, what handles what has arrived (consume, anything_arrived) by one at a time too, which may be
// another, or, after share_channels(), by any number, which then handle different channels; room() by any thread at any
// time. What waits, make_room, flush and close, lets other threads in meanwhile.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "aggregate/channels/buffer.hpp"
#include "aggregate/channels/channel_claims.hpp"
#include "base/counters.hpp"
#include "fabric/teams/team.hpp"
#include "fabric/world.hpp"
#include "lull/aggregate.hpp"
#include "model/costs/aggregation.hpp"

namespace lull::aggregate {

using detail::batch;
using detail::cursor;
using detail::item_format;

// Where the items of a batch go: to the program's handler, or on to the next hop. It says how many it has taken, of
// the first on (bytes where items have any size); those that are left are offered again.
struct sink {
  std::size_t (*take)(void* self, const batch& items);
  void* self;
};

// Filled at flushes, never at a push.
struct hop_counts {
  std::uint64_t items = 0;               // that left
  std::uint64_t buffers = 0;             // that left
  std::uint64_t bytes = 0;               // of these, headers included
  std::uint64_t filled = 0;              // of these, without them
  std::uint64_t room = 0;                // bytes of items that these buffers could have held
  std::uint64_t inter_node_buffers = 0;  // of these, to other nodes
  std::uint64_t inter_node_bytes = 0;
  hop_counts& operator+=(const hop_counts& other) { return add_fields(*this, other); }
};

// Buffers of a channel.
struct buffer_sizes : model::buffer_sizes {
  // Bytes of items on their way from one PE to another: a ring of buffers, one being written, one being handled.
  [[nodiscard]] std::size_t under_way() const {
    return (per_channel + 2) * std::max(intra_node_bytes, inter_node_bytes);
  }

  // Where small items for another PE of this node are written first, by channel; 0: there is no such place.
  std::size_t stage_bytes = 0;

  // Of these buffers, kept for the last one of a phase: with one close() never waits.
  std::size_t reserved = 0;

  // The number of each channel's first buffer, in hops between nodes. Tests begin where numbers outgrow 32 bits.
  std::uint64_t first_buffer = 0;
};

// The channels of one hop. Nothing here waits: a function that finds no room returns, and the pipeline, which alone knows
// what may go on meanwhile, waits and calls again.
class hop {
 public:
  // `packed_bytes`: of the largest buffer that may arrive packed; 0: none may.
  hop(const item_format& items, const sink& to, std::size_t packed_bytes)
      : items_(items), sink_(to), unpacked_(packed_bytes) {}
  virtual ~hop() = default;
  hop(const hop&) = delete;
  hop& operator=(const hop&) = delete;

  [[nodiscard]] cursor* cursors() { return cursors_.data(); }  // by channel
  [[nodiscard]] std::size_t channels() const { return cursors_.size(); }
  // Sends the buffer at the cursor, if there is one, and opens the next.
  struct made_room {
    bool room;  // false: the next buffer is not free; the cursor is empty
    bool sent;
  };
  virtual made_room make_room(std::size_t channel) = 0;
  // Copies as many of these whole items to the channel as there is room for, and returns their bytes; 0: there is none.
  virtual std::size_t append(std::size_t channel, std::span<const std::byte> items) = 0;
  [[nodiscard]] virtual bool room(std::size_t channel) const = 0;  // whether a buffer is free, unless others are faster
  [[nodiscard]] virtual std::size_t capacity(std::size_t channel) const = 0;  // the largest item that append() takes
  virtual bool consume() = 0;                               // handles what has arrived; returns whether there was any
  [[nodiscard]] virtual bool anything_arrived() const = 0;  // that the sink has not refused
  // Sends what is in buffers that are not full, from this channel on. Returns the first channel that had no room for
  // it, or channels().
  virtual std::size_t flush(std::size_t from_channel) = 0;
  [[nodiscard]] virtual bool holds_back() const { return false; }       // after flush(): whether it has left anything
  [[nodiscard]] virtual bool could_send_more() const { return false; }  // of that

  // The end of a phase, in this order: write_all() until it returns channels(), begin_close() once, and, where that
  // returns true, close() until it returns channels(). `pushed`: what this PE has pushed in the phase.
  virtual std::size_t write_all(std::size_t from_channel) = 0;  // what this PE alone holds goes into the buffers
  virtual bool begin_close(std::uint64_t pushed) = 0;           // false: another PE closes the channels
  virtual std::size_t close(std::size_t from_channel) = 0;      // sends the last buffer of each channel
  [[nodiscard]] virtual bool over() const = 0;  // all last buffers have come, all that was sent has been consumed
  virtual void reopen() = 0;
  // Of channels that end at their items' PEs: from now on several threads consume. What they push into the channels of
  // `replies`, the same by number, is of those alone whose requests they handle; a flush passes these over.
  virtual void share_channels(hop* replies) { (void)replies; }
  [[nodiscard]] const hop_counts& counts() const { return counts_; }
  [[nodiscard]] virtual std::uint64_t waiting_items() const = 0;  // in open buffers
  // Of any PE, in the phase that is over.
  [[nodiscard]] std::uint64_t most_pushed() const { return most_pushed_.load(std::memory_order_relaxed); }

 protected:
  // A word with one writer, at which others look.
  template <class T>
  class seen_by_others {
   public:
    seen_by_others(T value = {}) : value_(value) {}  // NOLINT(google-explicit-constructor): as the word itself
    seen_by_others(const seen_by_others& other) : value_(T{other}) {}
    seen_by_others& operator=(const seen_by_others& other) { return *this = T{other}; }
    seen_by_others& operator=(T value) {
      value_.store(value, std::memory_order_relaxed);
      return *this;
    }
    operator T() const { return value_.load(std::memory_order_relaxed); }  // NOLINT(google-explicit-constructor)

   private:
    std::atomic<T> value_;
  };
  // How far a channel has been read.
  struct channel_reading {
    seen_by_others<std::uint64_t> read;  // buffers
    std::size_t taken = 0;               // items of the next one
    seen_by_others<bool> finished;       // its last buffer of this phase has come; what follows belongs to the next one
    seen_by_others<bool> refused;        // the rest of that buffer
    [[nodiscard]] bool is_beyond(const channel_reading& before) const {
      return read != before.read || taken != before.taken;
    }
  };
  // Hands on the items of a channel's next buffer. False: the sink has refused some of them.
  [[nodiscard]] bool unload(channel_reading& in, pe_id from, const std::byte* buffer);

  item_format items_;
  std::vector<cursor> cursors_;
  hop_counts counts_;
  std::atomic<std::uint64_t> most_pushed_{0};

 private:
  sink sink_;
  unpacking_memory unpacked_;
};

}  // namespace lull::aggregate
