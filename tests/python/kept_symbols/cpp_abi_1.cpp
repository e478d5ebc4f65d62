// The interface between the templates of lull/aggregate.hpp and liblull-shmem, besides the functions in
// cpp_abi_1.symbols, on a 64-bit system. test_cpp_abi.py compiles it. If something changes, the number of the interface
// must change too: see there.
#include <lull/aggregate.hpp>
#include <lull/aggregate_cache.hpp>

#include <cstddef>

using namespace lull::cpp_abi_1;
using namespace lull::cpp_abi_1::detail;

#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes))
#define MEMBER(type, name, at) static_assert(offsetof(type, name) == (at))

static_assert(cpp_abi == 1);

SIZE(aggregate_options, 64);
MEMBER(aggregate_options, buffers, 0);
MEMBER(aggregate_options, hops, 4);
MEMBER(aggregate_options, buffer_bytes, 8);
MEMBER(aggregate_options, memory_bytes, 16);
MEMBER(aggregate_options, getters, 24);
MEMBER(aggregate_options, concurrent_handlers, 25);
MEMBER(aggregate_options, flush_us, 32);
MEMBER(aggregate_options, compress, 40);
MEMBER(aggregate_options, direct, 44);
MEMBER(aggregate_options, cache_bytes, 48);
MEMBER(aggregate_options, cache_line_bytes, 56);

SIZE(aggregate_statistics, 136);
MEMBER(aggregate_statistics, items, 0);
MEMBER(aggregate_statistics, direct_items, 8);
MEMBER(aggregate_statistics, hops, 16);
MEMBER(aggregate_statistics, buffers, 24);
MEMBER(aggregate_statistics, bytes, 32);
MEMBER(aggregate_statistics, remote_buffers, 40);
MEMBER(aggregate_statistics, remote_bytes, 48);
MEMBER(aggregate_statistics, fill, 56);
MEMBER(aggregate_statistics, phases, 64);
MEMBER(aggregate_statistics, direct_phases, 72);
MEMBER(aggregate_statistics, cache_hits, 80);
MEMBER(aggregate_statistics, cache_misses, 88);
MEMBER(aggregate_statistics, cpu_ns_per_item, 96);
MEMBER(aggregate_statistics, seconds_asleep, 104);
MEMBER(aggregate_statistics, memory_bytes, 112);
MEMBER(aggregate_statistics, route_hops, 120);
MEMBER(aggregate_statistics, per_node, 124);
MEMBER(aggregate_statistics, buffer_bytes, 128);

SIZE(aggregation_request, 120);
MEMBER(aggregation_request, item_bytes, 0);
MEMBER(aggregation_request, apply, 8);
MEMBER(aggregation_request, apply_addressed, 16);
MEMBER(aggregation_request, handler, 24);
MEMBER(aggregation_request, options, 32);
MEMBER(aggregation_request, replies, 40);
MEMBER(aggregation_request, has_direct, 48);
MEMBER(aggregation_request, offer, 56);
MEMBER(aggregation_request, has_parts, 64);
MEMBER(aggregation_request, apply_local, 72);
MEMBER(aggregation_request, apply_local_addressed, 80);
MEMBER(aggregation_request, tag_bytes, 88);
MEMBER(aggregation_request, detach, 96);
MEMBER(aggregation_request, requested_options, 104);
MEMBER(aggregation_request, past, 112);

SIZE(direct_path_budget, 16);
MEMBER(direct_path_budget, prices, 8);

SIZE(route_change, 128);
MEMBER(route_change, from, 64);
SIZE(exchange_sizes, 24);
MEMBER(exchange_sizes, usual_reply_bytes, 8);
MEMBER(exchange_sizes, least_reply_bytes, 16);
SIZE(exchange_route, 72);
MEMBER(exchange_route, ordered, 64);
SIZE(cache_sizes, 16);
MEMBER(cache_sizes, line, 8);

SIZE(batch, 24);
MEMBER(batch, count, 8);
MEMBER(batch, from, 16);
SIZE(cursor, 16);
MEMBER(cursor, end, 8);
static_assert(address_bytes == 4 && length_bytes == 4);
static_assert(smallest_line == 8 && largest_line == 1024);
