// One stage of a route: lanes that lead from this PE to others, and what arrives on theirs.
//
// A lane has a cursor, where the next item is written. The items of a full buffer go to the other end, and arrive there
// in batches at the sink. States: open → close() → over() once everything has arrived in both directions → reopen().
#pragma once
#include <vector>

#include "aggregate/slot.hpp"
#include "fabric/team.hpp"
#include "fabric/world.hpp"
#include "lull/aggregate.hpp"

namespace lull::aggregate {

using detail::batch;
using detail::cursor;

// Where the items of a batch go: to the program's handler, or on to the next stage. It says how many it has taken, of
// the first on (bytes where items have any size); those that are left are offered again.
struct sink {
  std::size_t (*take)(void* self, const batch& items);
  void* self;
};

// What a lane needs that has no room: the channel, which lets all that comes later in the route go on meanwhile.
class progress_of_later_stages {
 public:
  // Waits until ready(this), while everything from `stage` on is consumed.
  virtual void wait_for(int stage, bool (*ready)(const void*), const void* argument) = 0;

 protected:
  ~progress_of_later_stages() = default;
};

// Filled at flushes, never at a push.
struct stage_counts {
  std::uint64_t items = 0;        // that left
  std::uint64_t buffers = 0;      // that left
  std::uint64_t bytes = 0;        // of these, headers included
  std::uint64_t room = 0;         // bytes of items that these buffers could have held
  std::uint64_t far_buffers = 0;  // of these, to other nodes
  std::uint64_t far_bytes = 0;
};

// Buffers of one stage: those to PEs of this node, and those to other nodes.
struct buffer_sizes {
  std::size_t near_bytes, far_bytes;
  std::size_t slots;
  // Of these, kept for the last buffer of a round: with one close() never waits.
  std::size_t reserved = 0;
};

class stage {
 public:
  stage() = default;
  virtual ~stage() = default;
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  [[nodiscard]] cursor* cursors() { return cursors_.data(); }  // by lane
  virtual void turn_over(std::size_t lane) = 0;  // makes room at the cursor: sends what is there when it is full
  // The same for who must not wait. False: there is no room now.
  virtual bool try_turn_over(std::size_t lane) = 0;
  virtual bool try_flush() = 0;
  [[nodiscard]] virtual bool room(std::size_t lane) const = 0;     // whether trying again will do
  [[nodiscard]] virtual bool holds_back() const { return false; }  // after try_flush(): whether it has left anything
  [[nodiscard]] virtual bool could_send_more() const { return false; }  // of that
  virtual bool consume() = 0;                               // handles what has arrived; whether there was any
  [[nodiscard]] virtual bool anything_arrived() const = 0;  // that the sink has not refused
  virtual void flush() = 0;                                 // sends what stands in buffers that are not full
  virtual void close(std::uint64_t pushed) = 0;             // the same, as the last of this round
  [[nodiscard]] virtual bool over() const = 0;              // all lasts have come, all that was sent has been consumed
  virtual void reopen() = 0;
  [[nodiscard]] const stage_counts& counts() const { return counts_; }
  [[nodiscard]] virtual std::uint64_t waiting_items() const = 0;            // in open buffers
  [[nodiscard]] std::uint64_t most_pushed() const { return most_pushed_; }  // of any PE, in the round that is over

 protected:
  std::vector<cursor> cursors_;
  stage_counts counts_;
  std::uint64_t most_pushed_ = 0;
};

}  // namespace lull::aggregate
