// Options and statistics that lull::aggregator, lull::gatherer and lull::table_reader have in common.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace lull {
inline namespace cpp_abi_1 {

// Names the type of the items where that of the handler is deduced: lull::aggregator a{lull::items_of<int>{}, handler};
template <class Item>
struct items_of {};

// As a type of items: items of any size, up to that of a buffer. push() takes their bytes, and so does the handler.
using byte_span = std::span<const std::byte>;

enum class aggregate_buffers : std::uint8_t { by_setting, per_pe, per_node };

// All PEs pass the same options. Where a default says so, the named setting decides; `lull settings` describes it.
struct aggregate_options {
  aggregate_buffers buffers = aggregate_buffers::by_setting;  // LULL_AGGREGATE
  int hops = 0;                                               // 1 to 3; 0: LULL_AGGREGATE_HOPS
  std::size_t buffer_bytes = 0;                               // 0: LULL_AGGREGATE_BUFFER_BYTES
  std::size_t memory_bytes = 0;                               // per PE; 0: LULL_AGGREGATE_MEMORY
  bool getters = false;              // of a gatherer or table_reader: threads get through getters of their own
  bool concurrent_handlers = false;  // handlers of a PE may run in several of its threads at once
  long flush_us = -1;                // deadline of a buffer in microseconds; 0: none; -1: LULL_AGGREGATE_FLUSH_US
  int compress = -1;                 // 0 or 1; -1: LULL_AGGREGATE_COMPRESS
  int direct = -1;                   // 0 or 1; -1: LULL_AGGREGATE_DIRECT
  long cache_bytes = -1;             // of a table_reader; 0: no cache; -1: LULL_AGGREGATE_CACHE
  std::size_t cache_line_bytes = 0;  // 8 to 1024; 0: LULL_AGGREGATE_CACHE_LINE
};

// Counts since the constructor, of the calling PE alone.
struct aggregate_statistics {
  std::uint64_t items = 0;           // pushed by this PE
  std::uint64_t direct_items = 0;    // of these, items that took the direct path
  std::uint64_t hops = 0;            // made by items in buffers from this PE, forwarded items included
  std::uint64_t buffers = 0;         // sent by this PE
  std::uint64_t bytes = 0;           // of these buffers, headers included
  std::uint64_t remote_buffers = 0;  // of these buffers, those for PEs of other nodes
  std::uint64_t remote_bytes = 0;
  double fill = 0;                  // mean share of a sent buffer that was used, 0 to 1
  std::uint64_t phases = 0;         // completed
  std::uint64_t direct_phases = 0;  // of these, phases that took the direct path
  std::uint64_t cache_hits = 0;     // gets answered by the cache, or together with an earlier get
  std::uint64_t cache_misses = 0;
  double cpu_ns_per_item = 0;    // CPU time of this PE's thread, from a phase's first buffer to its end, per item
  double seconds_asleep = 0;     // in that time
  std::size_t memory_bytes = 0;  // of buffers, outstanding requests and threads' chunks
  int route_hops = 0;            // of the route in use
  bool per_node = false;         // whether that route has buffers per node
  std::size_t buffer_bytes = 0;  // of buffers for other nodes; on one node, of those for its PEs
};

}  // namespace cpp_abi_1
}  // namespace lull
