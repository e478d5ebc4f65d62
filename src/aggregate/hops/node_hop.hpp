// Channels between nodes: all PEs of a node, and their threads, fill the same buffers.
//
// A writer gathers a few items of its own (a chunk) for each channel, and appends full chunks to the channel's open
// buffer, which lies in the memory of the channel's owner on this node. One word per channel, {buffer, bytes}, is
// advanced by compare-and-swap to reserve room; one word per buffer counts what has been written. Whoever completes a
// buffer that is closed sends it to the channel's owner on the other node, which hands its items on to the PEs of that
// node.
//
// Memory per node grows with the channels, not with PEs or threads but for their chunks.
#pragma once
#include <atomic>

#include "aggregate/channels/route.hpp"
#include "aggregate/hops/hop.hpp"

namespace lull::aggregate {

class node_hop final : public hop {
 public:
  // Collective.
  node_hop(fabric::world& world, progress_of_later_hops& later, const route& way, int number, const item_format& items,
           const buffer_sizes& sizes, sink to);
  ~node_hop() override;

  // Symmetric memory and chunks.
  static model::buffer_demand demand(const channel_counts& most);

  bool make_room(std::size_t channel) override;
  bool try_make_room(std::size_t channel) override;
  bool try_flush() override;
  [[nodiscard]] bool holds_back() const override;
  [[nodiscard]] bool could_send_more() const override;
  std::size_t append(std::size_t channel, std::span<const std::byte> items) override;
  [[nodiscard]] bool room(std::size_t channel) const override;
  [[nodiscard]] std::size_t capacity(std::size_t) const override { return chunk_bytes_; }
  bool consume() override;
  [[nodiscard]] bool anything_arrived() const override;
  void flush() override;
  void close(std::uint64_t pushed) override;
  [[nodiscard]] bool over() const override;
  void reopen() override;
  [[nodiscard]] std::uint64_t waiting_items() const override;

 private:
  struct control;        // of a channel, in its owner's memory, followed by one word per buffer
  struct node_counters;  // of what the PEs of this node do together
  struct outgoing {
    node_id to{0};
    pe_id receiver{0};
    control* shared = nullptr;                      // direct
    std::atomic<std::uint64_t>* written = nullptr;  // likewise, by buffer
    std::byte* buffers = nullptr;                   // likewise
    std::byte* buffers_there = nullptr;             // symmetric, at the receiver
    std::uint64_t* ready_there = nullptr;           // likewise, by buffer
    bool owned_here = false;
  };
  struct incoming {
    node_id from{0};
    pe_id owner{0};  // there
    channel_reading at;
    const std::byte* buffers = nullptr;
    const std::uint64_t* ready = nullptr;     // by buffer: its number + 1 once it is there
    std::uint64_t* consumed_there = nullptr;  // symmetric, at the owner
  };

  [[nodiscard]] std::byte* chunk_of(std::size_t channel) { return chunks_.data() + channel * chunk_bytes_; }
  [[nodiscard]] std::size_t space() const { return sizes_.inter_node_bytes - sizeof(buffer_header); }
  [[nodiscard]] static std::uint64_t consumed(const outgoing& out);  // buffers, by the receiver
  [[nodiscard]] static std::uint64_t open_buffer(const outgoing& out);
  [[nodiscard]] bool room(const outgoing& out, std::uint64_t buffer) const;
  void wait_for_room(const outgoing& out, std::uint64_t buffer);
  [[nodiscard]] std::size_t bytes_in_chunk(std::size_t channel) const;
  bool try_append_chunk(std::size_t channel);  // which is empty then; false: there is no room
  void append_chunk(std::size_t channel);
  void close_buffer(outgoing& out, const std::uint64_t* pushed);
  void written(outgoing& out, std::uint64_t buffer, std::uint64_t change);
  void send(outgoing& out, std::uint64_t buffer);
  [[nodiscard]] bool arrived(const incoming& in) const;

  fabric::world& world_;
  progress_of_later_hops& later_;
  fabric::context traffic_, acks_;  // buffers and what confirms them: by different threads
  int number_;
  buffer_sizes sizes_;
  std::size_t chunk_bytes_;
  std::byte* memory_ = nullptr;    // symmetric; see the constructor
  node_counters* node_ = nullptr;  // direct: in the leader's memory
  std::uint64_t pes_here_;
  std::uint64_t phase_ = 0;  // closed by this PE
  std::vector<std::byte> chunks_;
  std::vector<outgoing> out_;
  std::vector<incoming> in_;
};

}  // namespace lull::aggregate
