// The symmetric memory of one PE: its heap and, unless LULL_STATIC_DATA=private, the executable's global and static
// variables. A symmetric address is an address in this PE's symmetric memory; the same offset names the same object in
// every PE's.
//
// States: constructed → offer() told to all, map() what they told → in use. PEs of this node map each other's; in front
// of the memory of each is a header with its doorbell.
//
// The pages of the heap are this process's own, or a network's that can only reach memory which it has made itself; that
// makes no difference but to the network.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "fabric/memory/heap.hpp"
#include "fabric/memory/static_data.hpp"
#include "fabric/operations/accumulate.hpp"
#include "job/layout.hpp"
#include "job/segment.hpp"
#include "wait/doorbell.hpp"

namespace lull::fabric {

// At the beginning of every PE's segment, before its heap.
struct pe_header {
  std::uint64_t nonce;
  wait::doorbell bell;
  shared_lock accumulating;
};

class symmetric_memory {
 public:
  // A heap of SHMEM_SYMMETRIC_SIZE and `reserved` bytes more. Throws when there is no memory for that.
  symmetric_memory(pe_id me, int pes, std::size_t reserved);

  // The NUMA node on which its pages are, whoever touches them first: that of the PE's cores; nothing where these are of
  // several, or there is no other.
  [[nodiscard]] std::optional<int> numa_node() const { return numa_node_; }

  // Nothing may have been written to the heap before.
  void lay_heap_on(std::byte* pages);

  // What the others must know to map this PE's.
  struct offer {
    job::segment_name heap;
    std::uint64_t heap_bytes;
    std::uint64_t static_bytes, static_identity;
    std::uint64_t heap_elsewhere;  // 1: it is not in the segment
  };
  [[nodiscard]] offer mine() const;
  // All PEs' offers. Throws when their heaps differ; where their programs differ, static data are not symmetric.
  // `pages_of` another PE's heap, where it is not in what it offered; or null.
  void map(std::span<const offer> all, const job::layout& places, const std::function<std::byte*(pe_id)>& pages_of);
  void all_have_mapped() { segment_.close(); }  // the descriptor has done its duty

  // The heap. Null when there is no room. Not synchronised; made alike by all PEs.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = 64);
  bool release(void* symmetric);
  [[nodiscard]] std::optional<std::size_t> size_of(const void* symmetric) const;

  // The offset of a symmetric address: the heap, then the static data; past both for any other, where nobody can load
  // or store (job/segment.hpp).
  [[nodiscard]] std::size_t offset_of(const void* symmetric) const {
    const auto in_heap = static_cast<std::size_t>(static_cast<const std::byte*>(symmetric) - heap_base_);
    if (in_heap < heap_bytes_) [[likely]]
      return in_heap;
    const auto in_static = static_cast<std::size_t>(static_cast<const std::byte*>(symmetric) - static_.begin);
    return in_static < static_.bytes ? heap_bytes_ + in_static : symmetric_bytes_;
  }
  [[nodiscard]] bool is_symmetric(const void* address, std::size_t bytes = 1) const {
    const std::size_t offset = offset_of(address);
    const std::size_t end = offset < heap_bytes_ ? heap_bytes_ : symmetric_bytes_;
    return offset < end && bytes <= end - offset;
  }
  // The object at this symmetric address in `pe`'s memory, when this PE can load and store there; else null.
  [[nodiscard]] void* direct(const void* symmetric, pe_id pe) const {
    std::byte* const base = memory_of_[static_cast<std::size_t>(pe.index())];
    return base ? base + offset_of(symmetric) : nullptr;
  }

  // Of PEs that share memory with this one, this one among them. For all of them only after map().
  [[nodiscard]] pe_header& header_of(pe_id pe) const { return *headers_[static_cast<std::size_t>(pe.index())]; }
  // Wakes `pe` if it sleeps, after a store into its memory through direct().
  [[nodiscard]] wait::doorbell& bell_of(pe_id pe) const { return header_of(pe).bell; }
  void ring_node() const;  // wakes all of them

  [[nodiscard]] std::span<std::byte> heap_memory() const { return {heap_base_, heap_bytes_}; }  // this PE's
  [[nodiscard]] std::span<std::byte> bytes() const { return {heap_base_, symmetric_bytes_}; }   // this PE's

 private:
  pe_id me_;
  std::size_t header_bytes_;
  std::size_t heap_bytes_;
  static_range static_;
  std::size_t symmetric_bytes_;
  job::segment segment_;
  job::mapping own_;
  std::byte* heap_base_;
  bool heap_elsewhere_ = false;
  std::optional<int> numa_node_;
  std::vector<job::mapping> peers_;    // by PE; empty for this PE and for those of other nodes
  std::vector<std::byte*> memory_of_;  // by PE: its symmetric memory; null when it is not shared with this PE
  std::vector<pe_header*> headers_;    // the same
  std::vector<pe_id> near_;            // the PEs of this node
  heap allocator_;
};

}  // namespace lull::fabric
