// The settings of this room: aggregation. Merged with those of the other rooms in base/settings.hpp.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array aggregate{
    setting{"LULL_AGGREGATE", setting_type::choice, "auto", "auto|per-pe|per-node",
            "Whose aggregation buffers are: each PE's own, or shared by the PEs and threads of a node; auto takes what "
            "costs least, and may change between phases (LULL_CHOOSE)."},
    setting{
        "LULL_AGGREGATE_HOPS", setting_type::integer, "0", "0..3",
        "Hops in which an aggregated item comes to its PE, with buffers per node those between nodes; more need fewer "
        "buffers. 0 takes what costs least."},
    setting{"LULL_AGGREGATE_BUFFER_BYTES", setting_type::size, "0", "",
            "Bytes of one aggregation buffer; 0 takes what costs least within LULL_AGGREGATE_MEMORY."},
    setting{"LULL_AGGREGATE_BUFFERS", setting_type::integer, "8", "2..4096",
            "Aggregation buffers of one channel: from one PE to another, or from one node to another."},
    setting{
        "LULL_AGGREGATE_STAGES", setting_type::choice, "auto", "auto|on|off",
        "Whether small items for other PEs of the node are written to the core's own cache first, and from there to "
        "the buffer by whole lines; auto where no PE shares its core."},
    setting{
        "LULL_AGGREGATE_MEMORY", setting_type::size, "64M", "",
        "Most bytes of one aggregator or gatherer on each PE, chunks of threads included; buffers become smaller, or "
        "hops more, to keep to it."},
    setting{"LULL_AGGREGATE_FLUSH_US", setting_type::integer, "0", "0..1000000000",
            "Microseconds after which an aggregation buffer is sent even if it is not full, at the next call that may; "
            "0: when full, when idle, and at done()."},
    setting{"LULL_AGGREGATE_COMPRESS", setting_type::integer, "0", "0..1",
            "1 leaves out, between nodes, the bytes that are zero in all items of a buffer."},
    setting{"LULL_AGGREGATE_DIRECT", setting_type::integer, "1", "0..1",
            "1 lets phases of few items take the direct path, without aggregation, where the operation allows it; how "
            "few is "
            "measured."},
    setting{"LULL_AGGREGATE_CACHE", setting_type::size, "1M", "",
            "Bytes of the cache in which a lull::table_reader keeps what it has read from other nodes; 0: none."},
    setting{"LULL_AGGREGATE_CACHE_LINE", setting_type::integer, "64", "8..1024",
            "Bytes of one line of that cache, which are asked for together."},
};

}  // namespace lull::settings_of
