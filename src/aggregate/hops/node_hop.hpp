// Channels between nodes: all PEs of a node, and their threads, fill the same buffers.
//
// A writer gathers a few of its items (a chunk) for each channel and appends full chunks to the channel's open buffer,
// which is in the memory of the channel's owner on this node. A compare-and-swap on one word per channel,
// {buffer, bytes}, reserves room; one word per buffer counts the bytes written. The PE that writes the last bytes of a
// closed buffer sends it to the channel's owner on the other node, which passes its items on to the PEs of that node.
//
// Apart from the chunks, memory per node grows only with the channels, not with PEs or threads.
#pragma once
#include <atomic>

#include "aggregate/channels/route.hpp"
#include "aggregate/hops/hop.hpp"

namespace lull::aggregate {

class node_hop final : public hop {
 public:
  // Collective.
  node_hop(fabric::world& world, const route& way, int number, const item_format& items, const buffer_sizes& sizes,
           sink to);
  ~node_hop() override;

  // Symmetric memory, and the memory of the chunks.
  static model::buffer_demand demand(const channel_counts& most);

  made_room make_room(std::size_t channel) override;
  [[nodiscard]] bool holds_back() const override;
  [[nodiscard]] bool could_send_more() const override;
  std::size_t append(std::size_t channel, std::span<const std::byte> items) override;
  [[nodiscard]] bool room(std::size_t channel) const override;
  [[nodiscard]] std::size_t capacity(std::size_t) const override { return chunk_bytes_; }
  bool consume() override;
  [[nodiscard]] bool anything_arrived() const override;
  std::size_t flush(std::size_t from_channel) override;
  std::size_t write_all(std::size_t from_channel) override;
  bool begin_close(std::uint64_t pushed) override;
  std::size_t close(std::size_t from_channel) override;
  [[nodiscard]] bool over() const override;
  void reopen() override;
  [[nodiscard]] waiting waiting_items() const override;
  [[nodiscard]] bool reaches_other_nodes() const override { return true; }

 private:
  struct control;        // of a channel, in its owner's memory, followed by one word per buffer
  struct node_counters;  // shared by the PEs of this node
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
  [[nodiscard]] static std::uint64_t consumed(const outgoing& out);  // number of buffers, by the receiver
  [[nodiscard]] static std::uint64_t open_buffer(const outgoing& out);
  [[nodiscard]] bool room(const outgoing& out, std::uint64_t buffer) const;
  [[nodiscard]] std::size_t bytes_in_chunk(std::size_t channel) const;
  bool append_chunk(std::size_t channel);  // empties the chunk; false: there is no room
  void close_buffer(outgoing& out, const std::uint64_t* pushed);
  void written(outgoing& out, std::uint64_t buffer, std::uint64_t change);
  void send(outgoing& out, std::uint64_t buffer);
  [[nodiscard]] bool arrived(const incoming& in) const;

  fabric::world& world_;
  fabric::context traffic_, acks_;  // buffers and their acknowledgements: by different threads
  buffer_sizes sizes_;
  std::size_t chunk_bytes_;
  std::byte* memory_ = nullptr;    // symmetric; see the constructor
  node_counters* node_ = nullptr;  // direct: in the leader's memory
  std::uint64_t pes_here_;
  std::uint64_t phase_ = 0;   // closed by this PE
  std::uint64_t pushed_ = 0;  // the most that one PE of this node has pushed in the phase that ends
  std::vector<std::byte> chunks_;
  std::vector<outgoing> out_;
  std::vector<incoming> in_;
};

}  // namespace lull::aggregate
