// The symmetric memory of one PE: its heap and, unless LULL_STATIC_DATA=private, the executable's global and static
// variables. A symmetric address is an address in this PE's symmetric memory; the same offset names the same object in
// the symmetric memory of every PE.
//
// States: constructed → mine() sent to all PEs, their offers passed to map() → in use. PEs of this node map each
// other's memory; a header with the PE's doorbell precedes it.
//
// The pages of the heap belong to this process, or to the network if that can only access memory which it has allocated
// itself. Only the network sees the difference.
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
#include "job/shared_lock.hpp"
#include "wait/doorbell.hpp"

namespace lull::fabric {

// At the start of every PE's segment, before its heap.
struct pe_header {
  std::uint64_t nonce;
  wait::doorbell bell;
  job::shared_lock accumulating;
};

class symmetric_memory {
 public:
  // A heap of SHMEM_SYMMETRIC_SIZE plus `reserved` bytes. Throws if there is not enough memory.
  symmetric_memory(pe_id me, int pes, std::size_t reserved);

  // The NUMA node on which its pages are, whichever PE touches them first: that of the PE's cores. Empty if these
  // belong to several NUMA nodes, or if there is only one.
  [[nodiscard]] std::optional<int> numa_node() const { return numa_node_; }

  // Moves the heap to these pages. Nothing may have been written to it before.
  void lay_heap_on(std::byte* pages);

  // What other PEs need to map this PE's memory.
  struct offer {
    job::segment_name heap;
    std::uint64_t heap_bytes;
    std::uint64_t static_bytes, static_identity;
    std::uint64_t heap_elsewhere;  // 1: the heap is not in the segment
  };
  [[nodiscard]] offer mine() const;
  // Maps the memory of all PEs. Throws if their heaps differ; if their programs differ, static data are not symmetric.
  // `pages_of` returns another PE's heap if it is not in the segment that the PE offered; or null.
  void map(std::span<const offer> all, const job::layout& places, const std::function<std::byte*(pe_id)>& pages_of);
  void all_have_mapped() { segment_.close(); }  // the descriptor is no longer needed

  // Allocates from the heap. Null if there is no room. Not synchronised; all PEs must make the same calls.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = 64);
  bool release(void* symmetric);
  [[nodiscard]] std::optional<std::size_t> size_of(const void* symmetric) const;

  // The offset of a symmetric address: the heap, then the static data. Any other address gives an offset past both,
  // where no load or store is possible (job/segment.hpp).
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
  // The object at this symmetric address in `pe`'s memory, if this PE can load and store there; otherwise null.
  [[nodiscard]] void* direct(const void* symmetric, pe_id pe) const {
    std::byte* const base = memory_of_[static_cast<std::size_t>(pe.index())];
    return base ? base + offset_of(symmetric) : nullptr;
  }

  // For PEs that share memory with this one, including itself. Before map(), only for this PE.
  [[nodiscard]] pe_header& header_of(pe_id pe) const { return *headers_[static_cast<std::size_t>(pe.index())]; }
  // Wakes `pe` if it sleeps, after a store into its memory through direct().
  [[nodiscard]] wait::doorbell& bell_of(pe_id pe) const { return header_of(pe).bell; }
  void ring_node() const;  // wakes all PEs of this node

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
  std::vector<std::byte*> memory_of_;  // by PE: its symmetric memory; null if it is not shared with this PE
  std::vector<pe_header*> headers_;    // the same
  std::vector<pe_id> near_;            // the PEs of this node
  heap allocator_;
};

}  // namespace lull::fabric
