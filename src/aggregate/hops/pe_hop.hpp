// Channels between PEs: each has one single-producer ring of buffers, in the symmetric heap of the PE that reads it.
//
// If that PE shares memory with the writer, items are written in place. Small items are first written to a *stage*,
// which stays in the nearest caches, and move to the buffer together: another core read the buffer's lines last, and
// getting such a line back takes as long for one item as for a whole line (docs/design/aggregation-speed.md, "Stages").
// Otherwise items are written into a staging ring of the writer, and one put-with-signal transfers each buffer. Two
// counters, each alone in its cache line, control a ring:
//   published, next to the ring: buffers that were filled     consumed, in the writer's heap: buffers that were emptied
// The writer may fill buffer k while k < consumed + buffers; the reader may read it while k < published. From another
// node, a small buffer may overtake a large one (transport::overtakable_from()). There each buffer of the ring has its
// own word, ready, and the reader may read buffer k when that word is k + 1.
#pragma once
#include <array>

#include "aggregate/channels/route.hpp"
#include "aggregate/hops/hop.hpp"

namespace lull::aggregate {

class pe_hop final : public hop {
 public:
  // Collective.
  pe_hop(fabric::world& world, const route& way, int number, const item_format& items, const buffer_sizes& sizes,
         sink to);
  ~pe_hop() override;

  // Symmetric memory and staging rings.
  static model::buffer_demand demand(const channel_counts& most);

  made_room make_room(std::size_t channel) override;
  std::size_t append(std::size_t channel, std::span<const std::byte> items) override;
  [[nodiscard]] bool room(std::size_t channel) const override { return room(out_[channel]); }
  [[nodiscard]] std::size_t capacity(std::size_t channel) const override {
    return out_[channel].buffer_bytes - sizeof(buffer_header);
  }
  bool consume() override;
  [[nodiscard]] bool anything_arrived() const override;
  std::size_t flush(std::size_t from_channel) override;
  std::size_t write_all(std::size_t) override { return channels(); }
  bool begin_close(std::uint64_t pushed) override;
  std::size_t close(std::size_t from_channel) override;
  [[nodiscard]] bool over() const override;
  void reopen() override;
  void share_channels(hop* replies) override;
  [[nodiscard]] waiting waiting_items() const override;
  [[nodiscard]] bool reaches_other_nodes() const override;

 private:
  struct alignas(64) line {
    std::uint64_t value;
  };
  struct outgoing {
    pe_id to;
    std::byte* buffers = nullptr;          // where items are written: the target's memory, or the staging ring
    std::byte* buffers_there = nullptr;    // symmetric: the ring at the target, when it is on another node
    line* published = nullptr;             // the target's counter, on this node
    std::uint64_t* ready_there = nullptr;  // symmetric: the words of the ring at the target, when it is on another node
    const line* consumed = nullptr;        // here
    std::size_t buffer_bytes = 0;
    std::size_t filled = 0;        // bytes of items in the open buffer, except what the cursor has written since
    std::span<std::byte> stage{};  // empty: the cursor writes to the buffer
    std::uint64_t sent = 0;
    bool intra_node = false, open = false;
  };
  struct incoming {
    pe_id from;
    channel_reading at{};
    const std::byte* buffers = nullptr;
    const line* published = nullptr;       // here; of a writer of this node
    const std::uint64_t* ready = nullptr;  // here; of a writer of another node
    line* consumed = nullptr;              // the writer's counter; its symmetric address on another node
    std::size_t buffer_bytes = 0;
    bool intra_node = false;
  };

  [[nodiscard]] std::array<void*, 4> symmetric_parts() const { return {rings_, published_, ready_, consumed_}; }
  [[nodiscard]] std::byte* buffer_of(const outgoing& out) const {
    return out.buffers + out.sent % sizes_.per_channel * out.buffer_bytes;
  }
  [[nodiscard]] static std::size_t space(const outgoing& out) { return out.buffer_bytes - sizeof(buffer_header); }
  [[nodiscard]] std::byte* place_in(const outgoing& out) const {  // position of the next item
    return buffer_of(out) + sizeof(buffer_header) + out.filled;
  }
  [[nodiscard]] std::size_t written(std::size_t channel) const;  // by the cursor, since it was placed
  [[nodiscard]] bool room(const outgoing& out) const;
  [[nodiscard]] bool arrived(const incoming& in) const;
  bool consume(incoming& in);
  void make_stages();
  void open_buffer(std::size_t channel);  // there must be room
  void place_cursor(std::size_t channel);
  void commit(std::size_t channel);  // adds what the cursor has written to the buffer; place_cursor() must follow
  bool go_on_in_buffer(std::size_t channel);  // with the next stage; false: there is no stage, or no room for an item
  void send_buffer(std::size_t channel, const std::uint64_t* pushed);  // pushed: this is the last

  fabric::world& world_;
  fabric::context traffic_, acks_;  // buffers and their acknowledgements: never ordered with each other
  buffer_sizes sizes_;
  std::uint64_t pushed_ = 0;        // in the phase that ends
  std::byte* rings_ = nullptr;      // symmetric: intra-node rings, then inter-node ones, by index among the sources
  line* published_ = nullptr;       // symmetric, of the intra-node rings, likewise
  std::uint64_t* ready_ = nullptr;  // symmetric, of the inter-node rings, a word for each of their buffers
  line* consumed_ = nullptr;        // symmetric, by index among the targets
  std::unique_ptr<std::byte[]> staging_;
  std::vector<line> stages_;
  std::vector<outgoing> out_;
  std::vector<incoming> in_;
  channel_claims claims_;                   // of these
  channel_claims* filled_under_ = nullptr;  // claims of the threads that fill out_; null: one thread does
};

}  // namespace lull::aggregate
