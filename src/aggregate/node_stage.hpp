// Lanes between nodes: all PEs of a node, and their threads, fill the same buffers.
//
// A writer gathers a few items of its own (a chunk) for each lane, and appends full chunks to the lane's open slot,
// which lies in the memory of the lane's keeper on this node. One word per lane, {slot, bytes}, is advanced by
// compare-and-swap to reserve room; one word per slot counts what has been written. Whoever completes a slot that is
// closed sends it to the lane's keeper on the other node, which hands its items on to the PEs of that node.
//
// Memory per node grows with the lanes, not with PEs or threads but for their chunks.
#pragma once
#include <atomic>

#include "aggregate/route.hpp"
#include "aggregate/stage.hpp"

namespace lull::aggregate {

class node_stage final : public stage {
 public:
  // Collective.
  node_stage(fabric::world& world, progress_of_later_stages& later, const route& way, int number,
             const item_format& items, const buffer_sizes& sizes, sink to);
  ~node_stage() override;

  // Symmetric bytes and chunks of the PE that needs most.
  static std::size_t memory(const lane_counts& most, const buffer_sizes& sizes);

  void turn_over(std::size_t lane) override;
  bool try_turn_over(std::size_t lane) override;
  bool try_flush() override;
  [[nodiscard]] bool holds_back() const override;
  [[nodiscard]] bool could_send_more() const override;
  std::size_t append(std::size_t lane, std::span<const std::byte> items) override;
  [[nodiscard]] bool room(std::size_t lane) const override;
  [[nodiscard]] std::size_t capacity(std::size_t) const override { return chunk_bytes_; }
  bool consume() override;
  [[nodiscard]] bool anything_arrived() const override;
  void flush() override;
  void close(std::uint64_t pushed) override;
  [[nodiscard]] bool over() const override;
  void reopen() override;
  [[nodiscard]] std::uint64_t waiting_items() const override;

 private:
  struct control;  // of a lane, in its keeper's memory, followed by one word per slot
  struct outgoing {
    node_id to{0};
    pe_id receiver{0};
    control* shared = nullptr;                      // direct
    std::atomic<std::uint64_t>* written = nullptr;  // likewise, by slot
    std::byte* slots = nullptr;                     // likewise
    std::byte* far_slots = nullptr;                 // symmetric, at the receiver
    std::uint64_t* far_ready = nullptr;             // likewise, by slot
    bool kept_here = false;
  };
  struct incoming {
    node_id from{0};
    pe_id keeper{0};  // there
    lane_reading at;
    const std::byte* slots = nullptr;
    const std::uint64_t* ready = nullptr;   // by slot: its number + 1 once it is there
    std::uint64_t* far_consumed = nullptr;  // symmetric, at the keeper
  };

  [[nodiscard]] std::byte* chunk_of(std::size_t lane) { return chunks_.data() + lane * chunk_bytes_; }
  [[nodiscard]] std::size_t space() const { return sizes_.far_bytes - sizeof(slot_header); }
  [[nodiscard]] bool room(const outgoing& out, std::uint64_t slot) const;
  void wait_for_room(const outgoing& out, std::uint64_t slot);
  [[nodiscard]] std::size_t bytes_in_chunk(std::size_t lane) const;
  bool try_append_chunk(std::size_t lane);  // which is empty then; false: there is no room
  void append_chunk(std::size_t lane);
  void close_slot(outgoing& out, const std::uint64_t* pushed);
  void written(outgoing& out, std::uint64_t slot, std::uint64_t change);
  void send(outgoing& out, std::uint64_t slot);
  [[nodiscard]] bool arrived(const incoming& in) const;

  fabric::world& world_;
  progress_of_later_stages& later_;
  fabric::context traffic_, answers_;  // buffers and what confirms them: by different threads
  int number_;
  buffer_sizes sizes_;
  std::size_t chunk_bytes_;
  std::byte* memory_ = nullptr;                   // symmetric; see the constructor
  std::atomic<std::uint64_t>* closed_ = nullptr;  // direct: how often PEs of this node have closed
  std::atomic<std::uint64_t>* ended_ = nullptr;   // direct: rounds whose last slots have been sent
  std::atomic<std::uint64_t>* pushed_ = nullptr;  // direct: the most that one of them has pushed in this round
  std::uint64_t pes_here_;
  std::uint64_t round_ = 0;  // closed by this PE
  std::vector<std::byte> chunks_;
  std::vector<outgoing> out_;
  std::vector<incoming> in_;
};

}  // namespace lull::aggregate
