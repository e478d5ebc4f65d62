// Small items that every process sends to all others evenly, as irregular applications do: individually, or aggregated
// in buffers like those of lull::aggregator. For histogram.cpp, index_gather.cpp and radix_sort.cpp.
//
// Source: src/aggregate.
// A channel sends a buffer when it is full, and a last one when its process has nothing left for it, full or not, which
// signals the end of the pass. Buffers have a header of 32 bytes; items that are forwarded begin with 4
// bytes of address. A hop ends after the previous one. Answers take the same channels back.
// Assumptions: each process receives the same number of items, so buffers fill in turn, evenly over the time in which a
// process pushes; a process checks for arrivals whenever it has filled a buffer; an item costs half of `item_time` at
// its source and half at its destination. There is no remote cache, no compression and no deadline.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "netsim/skeletons/item_paths.hpp"
#include "netsim/skeletons/skeleton.hpp"

namespace lull::netsim {

// The keys of all three skeletons: items, mode, hops, buffer_bytes, item_time.
[[nodiscard]] std::vector<key> small_item_keys();

class small_items {
 public:
  // `item_bytes`: size of an item and, if there is one, of its answer, as they travel in buffers, without address.
  small_items(const job_setup& setup, const reader& from, std::vector<std::uint32_t> item_bytes);

  [[nodiscard]] std::uint64_t items() const { return items_; }  // of each process
  [[nodiscard]] std::uint32_t processes() const { return processes_; }
  [[nodiscard]] picoseconds item_time() const { return item_time_; }
  [[nodiscard]] bool aggregated() const { return paths_.has_value(); }

  // One pass over the items of `rank`, until all have arrived. Passes are numbered from 0. `done` and this object must
  // outlive it.
  [[nodiscard]] stream pass(std::uint32_t rank, std::uint32_t number, const completions& done) const;
  // The same without buffers: sends each item as operation `one` to a random process. At the end, all processes wait
  // for non-blocking ones.
  [[nodiscard]] stream pass_directly(std::uint32_t rank, std::uint32_t number, operation one, bool blocking) const;

 private:
  // The channels of a hop that leave a process, the buffers that arrive there, and the progress of both.
  struct hop_of_pass {
    std::vector<item_paths::channel> to;
    std::vector<std::uint64_t> full;    // buffers, by channel
    std::uint64_t all_full = 0;         // of all channels
    std::uint64_t turns = 0, sent = 0;  // channels visited in turn; full buffers sent
    bool closed = false;
    std::uint64_t expected = 0, received = 0;  // buffers
    picoseconds handling = 0;                  // per arrived buffer
  };
  struct sending {
    std::uint32_t to;
    std::uint64_t bytes;
    std::uint32_t hop;
  };
  [[nodiscard]] std::uint32_t travels() const { return static_cast<std::uint32_t>(item_bytes_.size()); }
  [[nodiscard]] std::uint64_t bytes_of_item(std::uint32_t hop) const;
  [[nodiscard]] std::uint64_t items_of(double share) const;
  [[nodiscard]] std::uint64_t capacity(std::uint32_t hop) const;  // items per buffer
  [[nodiscard]] std::vector<hop_of_pass> hops_of(std::uint32_t rank) const;
  // The buffers that may leave after the process has pushed this share of its items.
  [[nodiscard]] std::vector<sending> due(std::vector<hop_of_pass>& hops, double pushed) const;

  std::vector<std::uint32_t> item_bytes_;
  std::uint32_t processes_;
  std::uint64_t items_, buffer_bytes_;
  picoseconds item_time_;
  std::uint64_t seed_;
  std::optional<item_paths> paths_;
};

}  // namespace lull::netsim
