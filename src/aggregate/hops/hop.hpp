// One hop of a route: the channels that lead from this PE to others, and the arrivals on channels that end here.
//
// A channel has a cursor, where the next item is written. The items of a full buffer go to the other end and arrive
// there in batches at the sink. States: open → close() → over() once everything has arrived in both directions →
// reopen().
//
// Threads. One thread at a time fills and sends buffers (cursors, append, make_room, flush, close, counts,
// waiting_items). One thread at a time, which may be another, handles arrivals (consume, anything_arrived); after
// share_channels(), any number of threads do, each on different channels. Any thread may call room() at any time.
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

// The destination of a batch: the program's handler, or the next hop. take() returns how many items it has taken from
// the front (bytes for items of any size); the rest are offered again.
struct sink {
  std::size_t (*take)(void* self, const batch& items);
  void* self;
};

// Updated when buffers leave, never by a push.
struct hop_counts {
  std::uint64_t items = 0;               // that left
  std::uint64_t buffers = 0;             // that left
  std::uint64_t bytes = 0;               // of these, headers included
  std::uint64_t filled = 0;              // of these, without them
  std::uint64_t room = 0;                // bytes of items that these buffers could have held
  std::uint64_t inter_node_buffers = 0;  // of these, to other nodes
  std::uint64_t inter_node_bytes = 0;
  std::uint64_t inter_node_items = 0;  // of the items, to other nodes
  hop_counts& operator+=(const hop_counts& other) { return add_fields(*this, other); }
};

// Sizes of a channel's buffers.
struct buffer_sizes : model::buffer_sizes {
  // Bytes of items in flight from one PE to another: a ring of buffers, one being written, one being handled.
  [[nodiscard]] std::size_t under_way() const {
    return (per_channel + 2) * std::max(intra_node_bytes, inter_node_bytes);
  }

  // Size of the stage in which small items for another PE of this node are written first, by channel; 0: no stage.
  std::size_t stage_bytes = 0;

  // Buffers of each ring reserved for the last buffer of a phase; with one, close() never waits.
  std::size_t reserved = 0;

  // The number of each channel's first buffer, in hops between nodes. Tests start where numbers exceed 32 bits.
  std::uint64_t first_buffer = 0;
};

// The channels of one hop. No function here waits: one that finds no room returns, and the pipeline waits and calls
// again, because only the pipeline knows what may proceed in between.
class hop {
 public:
  // `packed_bytes`: size of the largest buffer that may arrive packed; 0: none may.
  hop(const item_format& items, const sink& to, std::size_t packed_bytes)
      : items_(items), sink_(to), unpacked_(packed_bytes) {}
  virtual ~hop() = default;
  hop(const hop&) = delete;
  hop& operator=(const hop&) = delete;

  [[nodiscard]] cursor* cursors() { return cursors_.data(); }  // by channel
  [[nodiscard]] std::size_t channels() const { return cursors_.size(); }
  // Sends the buffer at the cursor, if there is one, and opens the next one.
  struct made_room {
    bool room;  // false: the next buffer is not free; the cursor is empty
    bool sent;
  };
  virtual made_room make_room(std::size_t channel) = 0;
  // Copies as many of these whole items to the channel as fit, and returns their bytes; 0: there is no room.
  virtual std::size_t append(std::size_t channel, std::span<const std::byte> items) = 0;
  [[nodiscard]] virtual bool room(std::size_t channel) const = 0;  // whether a buffer is free, unless others are faster
  [[nodiscard]] virtual std::size_t capacity(std::size_t channel) const = 0;  // the largest item that append() takes
  virtual bool consume() = 0;                               // handles arrivals; returns whether there were any
  [[nodiscard]] virtual bool anything_arrived() const = 0;  // that the sink has not refused
  // Sends buffers that are not full, beginning with this channel. Returns the first channel that had no room for them,
  // or channels().
  virtual std::size_t flush(std::size_t from_channel) = 0;
  [[nodiscard]] virtual bool holds_back() const { return false; }  // after flush(): whether anything is left unsent
  [[nodiscard]] virtual bool could_send_more() const { return false; }  // of that

  // The end of a phase, in this order: write_all() until it returns channels(); begin_close() once; and, if that
  // returns true, close() until it returns channels(). `pushed`: items that this PE has pushed in the phase.
  virtual std::size_t write_all(std::size_t from_channel) = 0;  // moves what only this PE holds into the buffers
  virtual bool begin_close(std::uint64_t pushed) = 0;           // false: another PE closes the channels
  virtual std::size_t close(std::size_t from_channel) = 0;      // sends the last buffer of each channel
  [[nodiscard]] virtual bool over() const = 0;  // all last buffers have arrived, and everything sent was consumed
  virtual void reopen() = 0;
  // For channels that end at their items' PEs: from now on several threads consume. Each channel of `replies` with the
  // number of a channel here is filled only by the thread that handles that channel's requests; a flush skips it then.
  virtual void share_channels(hop* replies) { (void)replies; }
  [[nodiscard]] const hop_counts& counts() const { return counts_; }
  struct waiting {
    std::uint64_t all = 0, inter_node = 0;  // those in channels to other nodes
  };
  [[nodiscard]] virtual waiting waiting_items() const = 0;  // in open buffers
  [[nodiscard]] virtual bool reaches_other_nodes() const = 0;
  // The most items that any PE pushed in the phase that is over.
  [[nodiscard]] std::uint64_t most_pushed() const { return most_pushed_.load(std::memory_order_relaxed); }

 protected:
  // A word with one writer and several readers.
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
    seen_by_others<bool> refused;        // the rest of the next buffer
    [[nodiscard]] bool is_beyond(const channel_reading& before) const {
      return read != before.read || taken != before.taken;
    }
  };
  // Passes the items of a channel's next buffer to the sink. Returns false if the sink has refused some of them.
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
