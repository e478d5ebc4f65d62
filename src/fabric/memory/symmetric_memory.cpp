#include "fabric/memory/symmetric_memory.hpp"

#include <atomic>
#include <string>

#include "base/error.hpp"
#include "base/pages.hpp"
#include "base/settings.hpp"
#include "base/topology.hpp"

namespace lull::fabric {
namespace {

constexpr std::size_t greatest_alignment = std::size_t{1} << 30U;  // of an allocation; address space, not memory

}  // namespace

symmetric_memory::symmetric_memory(pe_id me, int pes, std::size_t reserved)
    : me_(me),
      header_bytes_(round_up(sizeof(pe_header), page_size())),
      heap_bytes_(round_up(setting_size("SHMEM_SYMMETRIC_SIZE") + reserved, page_size())),
      static_(setting_text("LULL_STATIC_DATA") == "symmetric" ? find_static_data() : static_range{}),
      symmetric_bytes_(heap_bytes_ + static_.bytes),
      own_(segment_.map_own(header_bytes_ + symmetric_bytes_, header_bytes_, greatest_alignment)),
      heap_base_(own_.data() + header_bytes_),
      numa_node_(numa_node_of(allowed_cores())),
      peers_(static_cast<std::size_t>(pes)),
      memory_of_(static_cast<std::size_t>(pes)),
      headers_(static_cast<std::size_t>(pes)),
      allocator_(heap_bytes_) {
  // Otherwise pages that others write first would be far from the cores that read them.
  if (numa_node_ && !keep_on_numa_node({own_.data(), header_bytes_ + symmetric_bytes_}, *numa_node_))
    numa_node_.reset();
  const auto mine = static_cast<std::size_t>(me.index());
  headers_[mine] = reinterpret_cast<pe_header*>(own_.data());
  memory_of_[mine] = heap_base_;
  headers_[mine]->accumulating.open();
  if (static_.bytes != 0) move_static_data(static_, segment_.name().fd, header_bytes_ + heap_bytes_);
}

symmetric_memory::offer symmetric_memory::mine() const {
  return {segment_.name(), heap_bytes_, static_.bytes, static_.identity, heap_elsewhere_ ? 1U : 0U};
}

void symmetric_memory::lay_heap_on(std::byte* pages) {
  job::show_again(pages, heap_bytes_, heap_base_);
  heap_elsewhere_ = true;
}

void symmetric_memory::map(std::span<const offer> all, const job::layout& places,
                           const std::function<std::byte*(pe_id)>& pages_of) {
  bool one_program = true;
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    if (all[pe].heap_bytes != heap_bytes_)
      throw error("make the symmetric heap",
                  "PE " + std::to_string(pe) + " has " + std::to_string(all[pe].heap_bytes) + " bytes, this PE has " +
                      std::to_string(heap_bytes_),
                  "set SHMEM_SYMMETRIC_SIZE to the same value on all PEs");
    if (all[pe].static_bytes != static_.bytes || all[pe].static_identity != static_.identity) one_program = false;
  }
  if (!one_program) {  // different programs: their variables are unrelated
    static_ = {};
    symmetric_bytes_ = heap_bytes_;
    own_.shrink(header_bytes_ + symmetric_bytes_);
  }
  const auto here = places.members(places.my_node());
  near_.assign(here.begin(), here.end());
  for (const pe_id pe : near_) {
    if (pe == me_) continue;
    const auto i = static_cast<std::size_t>(pe.index());
    peers_[i] = job::map_peer(all[i].heap, header_bytes_ + symmetric_bytes_);
    headers_[i] = reinterpret_cast<pe_header*>(peers_[i].data());
    memory_of_[i] = peers_[i].data() + header_bytes_;
    if (all[i].heap_elsewhere == 0) continue;
    std::byte* const pages = pages_of(pe);
    if (!pages)
      throw error("map the heap of PE " + std::to_string(i) + " of this node",
                  "it is in memory of UCX that UCX does not map into this process", "set LULL_RDMA=off");
    job::show_again(pages, heap_bytes_, memory_of_[i]);
  }
}

void* symmetric_memory::allocate(std::size_t bytes, std::size_t alignment) {
  // Offsets are aligned the same on all PEs; addresses only up to the alignment of the heap.
  if (alignment > greatest_alignment) return nullptr;
  const auto offset = allocator_.allocate(bytes, alignment);
  return offset ? heap_base_ + *offset : nullptr;
}

bool symmetric_memory::release(void* symmetric) { return allocator_.release(offset_of(symmetric)); }

std::optional<std::size_t> symmetric_memory::size_of(const void* symmetric) const {
  return allocator_.size_of(offset_of(symmetric));
}

void symmetric_memory::ring_node() const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (const pe_id pe : near_) bell_of(pe).ring_after_atomic();
}

}  // namespace lull::fabric
