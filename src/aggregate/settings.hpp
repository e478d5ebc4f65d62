// The settings of this room: aggregation. Merged with those of the other rooms in base/settings.hpp.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array aggregate{
    setting{"LULL_AGGREGATE", setting_type::choice, "auto", "auto|per-pe|per-node",
            "Whether each PE has its own aggregation buffers, or the PEs and threads of a node share them; auto "
            "chooses the cheaper, and may change between phases (LULL_CHOOSE)."},
    setting{"LULL_AGGREGATE_HOPS", setting_type::integer, "0", "0..3",
            "Number of hops by which an aggregated item reaches its PE; with buffers per node, only hops between nodes "
            "count. More hops need fewer buffers. 0 chooses the cheapest."},
    setting{"LULL_AGGREGATE_BUFFER_BYTES", setting_type::size, "0", "",
            "Bytes of one aggregation buffer; 0 chooses the cheapest size within LULL_AGGREGATE_MEMORY."},
    setting{
        "LULL_AGGREGATE_BUFFERS", setting_type::integer, "8", "2..4096",
        "Number of aggregation buffers of one channel, which is from one PE to another or from one node to another."},
    setting{"LULL_AGGREGATE_STAGES", setting_type::choice, "auto", "auto|on|off",
            "Whether small items for other PEs of the node are first collected in the core's own cache and then moved "
            "to the buffer in whole lines; auto: only if no PE shares its core."},
    setting{"LULL_AGGREGATE_MEMORY", setting_type::size, "64M", "",
            "Maximum bytes of one aggregator or gatherer on each PE, including the chunks of threads; to stay within "
            "the limit, buffers become smaller or hops more numerous."},
    setting{"LULL_AGGREGATE_FLUSH_US", setting_type::integer, "0", "0..1000000000",
            "Microseconds after which the next call that can send sends an aggregation buffer even if it is not full; "
            "0: buffers are sent when full, when idle, and at done()."},
    setting{"LULL_AGGREGATE_COMPRESS", setting_type::integer, "0", "0..1",
            "1 omits the bytes that are zero in all items of a buffer from messages between nodes."},
    setting{"LULL_AGGREGATE_DIRECT", setting_type::integer, "1", "0..1",
            "1 lets phases of few items take the direct path, without aggregation, if the operation allows it; the "
            "limit is measured."},
    setting{
        "LULL_AGGREGATE_CACHE", setting_type::size, "1M", "",
        "Bytes of the cache in which a lull::table_reader keeps words that it has read from other nodes; 0: no cache."},
    setting{"LULL_AGGREGATE_CACHE_LINE", setting_type::integer, "64", "8..1024",
            "Bytes of one line of the cache of a lull::table_reader, which are fetched together."},
};

}  // namespace lull::settings_of
