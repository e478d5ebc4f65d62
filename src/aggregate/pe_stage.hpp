// Lanes between PEs: one single-producer ring of slots for each, in the symmetric heap of the PE that reads it.
//
// When that PE shares memory with the writer, items are written in place; else into a staging ring of the writer, and
// each slot goes over by one put-with-signal. Two counters, each alone in its cache line, run a ring:
//   published, beside the ring: slots that were filled      consumed, in the writer's heap: slots that were emptied
// so the writer may fill slot k while k < consumed + slots, and the reader may read it while k < published.
#pragma once
#include "aggregate/route.hpp"
#include "aggregate/stage.hpp"

namespace lull::aggregate {

class pe_stage final : public stage {
 public:
  // Collective.
  pe_stage(fabric::world& world, progress_of_later_stages& later, const route& way, int number,
           const item_format& items, const buffer_sizes& sizes, sink to);
  ~pe_stage() override;

  // Symmetric bytes and staging that it takes on the PE that needs most.
  static std::size_t memory(const lane_counts& most, const buffer_sizes& sizes);

  void turn_over(std::size_t lane) override;
  bool try_turn_over(std::size_t lane) override;
  bool try_flush() override;
  std::size_t append(std::size_t lane, std::span<const std::byte> items) override;
  [[nodiscard]] bool room(std::size_t lane) const override { return room(out_[lane]); }
  [[nodiscard]] std::size_t capacity(std::size_t lane) const override {
    return out_[lane].slot_bytes - sizeof(slot_header);
  }
  bool consume() override;
  [[nodiscard]] bool anything_arrived() const override;
  void flush() override;
  void close(std::uint64_t pushed) override;
  [[nodiscard]] bool over() const override;
  void reopen() override;
  [[nodiscard]] std::uint64_t waiting_items() const override;

 private:
  struct alignas(64) line {
    std::uint64_t value;
  };
  struct outgoing {
    pe_id to;
    std::byte* slots = nullptr;      // where items are written: the target's memory, or the staging ring
    std::byte* far_slots = nullptr;  // symmetric: the ring at the target, when it is on another node
    line* published = nullptr;       // near: the target's counter; far: its symmetric address
    const line* consumed = nullptr;  // here
    std::size_t slot_bytes = 0;
    std::uint64_t sent = 0;
    bool near = false, open = false;
  };
  struct incoming {
    pe_id from;
    lane_reading at{};
    const std::byte* slots = nullptr;
    const line* published = nullptr;  // here
    line* consumed = nullptr;         // near: the writer's counter; far: its symmetric address
    std::size_t slot_bytes = 0;
    bool near = false;
  };

  [[nodiscard]] std::byte* slot_of(const outgoing& out) const {
    return out.slots + out.sent % sizes_.slots * out.slot_bytes;
  }
  [[nodiscard]] bool room(const outgoing& out) const;
  [[nodiscard]] bool arrived(const incoming& in) const;
  void wait_for_slot(std::size_t lane);
  void open_slot(std::size_t lane);                               // there must be room
  void send_slot(std::size_t lane, const std::uint64_t* pushed);  // pushed: this is the last

  fabric::world& world_;
  progress_of_later_stages& later_;
  fabric::context traffic_, answers_;  // buffers and what confirms them: by different threads
  int number_;
  buffer_sizes sizes_;
  std::byte* rings_ = nullptr;  // symmetric: near rings, then far ones, by place among the sources
  line* published_ = nullptr;   // symmetric, likewise
  line* consumed_ = nullptr;    // symmetric, by place among the targets
  std::vector<std::byte> staging_;
  std::vector<outgoing> out_;
  std::vector<incoming> in_;
};

}  // namespace lull::aggregate
