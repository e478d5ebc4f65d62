// The buffers behind lull::aggregator: one single-producer ring for each ordered pair of PEs.
//
// The ring from PE s to PE d is an array of slots in d's symmetric heap, so that d reads locally. A slot is a header
// {count, last} and items. When d shares memory with s, s writes the items in place; else it writes them into a staging
// ring of its own and sends the slot with one put-with-signal. Two counters, each alone in its cache line, run the
// ring:
//   published[s] in d's heap: slots s has filled, written by s      consumed[d] in s's heap: slots d has emptied
// so s may fill slot k while k < consumed + slots, and d may read slot k while k < published.
//
//   working   push(), turn_over()          finish() → draining: every partial slot is sent, the last one marked `last`
//   draining  until `last` has come from every PE and every slot of this PE has been consumed → working
//
// Whoever waits for room goes on consuming what arrives, so no cycle of full rings can stand still.
#pragma once
#include <vector>

#include "fabric/team.hpp"
#include "fabric/world.hpp"
#include "lull/aggregate.hpp"

namespace lull::detail {

class rings {
 public:
  rings(fabric::world& world, std::size_t item_bytes, apply_batch apply, void* handler);
  ~rings();
  rings(const rings&) = delete;
  rings& operator=(const rings&) = delete;

  [[nodiscard]] cursor* cursors() { return cursors_.data(); }
  void turn_over(int pe);
  void finish();
  [[nodiscard]] aggregate_statistics statistics() const;

 private:
  struct slot_header {
    std::uint32_t count;
    std::uint32_t last;  // nonzero: the sender's last slot before its done()
  };
  struct alignas(64) line {
    std::uint64_t value;
  };
  struct to_pe {                 // this PE as the sender
    std::byte* slots = nullptr;  // where items are written: the target's memory, or the staging ring
    line* published = nullptr;   // the target's counter, when it shares memory
    std::uint64_t sent = 0;
    bool open = false;  // the cursor stands in a slot
  };
  struct from_pe {             // this PE as the receiver
    line* consumed = nullptr;  // the sender's counter, when it shares memory
    std::uint64_t read = 0;
    bool finished = false;  // its `last` has come
  };

  [[nodiscard]] std::size_t ring_bytes() const { return slot_bytes_ * slots_; }
  [[nodiscard]] std::byte* slot_of(int pe) const;
  [[nodiscard]] bool room(int pe) const;
  [[nodiscard]] bool arrived(int pe) const;
  [[nodiscard]] bool anything_arrived() const;
  void open_slot(int pe);
  void send_slot(int pe, bool last);
  bool consume();  // false: nothing had arrived
  void release_all();

  fabric::world& world_;
  fabric::context traffic_;
  apply_batch apply_;
  void* handler_;
  std::size_t item_bytes_;
  std::size_t slot_bytes_;
  std::size_t slots_;
  std::size_t items_per_slot_;
  std::byte* incoming_ = nullptr;   // symmetric: the rings of which this PE is the target, by sender
  line* published_ = nullptr;       // symmetric, by sender
  line* consumed_ = nullptr;        // symmetric, by target
  std::vector<std::byte> staging_;  // rings towards PEs of other nodes
  std::vector<cursor> cursors_;     // by PE
  std::vector<to_pe> to_;
  std::vector<from_pe> from_;
  aggregate_statistics counted_;
};

}  // namespace lull::detail
