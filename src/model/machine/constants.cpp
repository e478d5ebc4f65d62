#include "model/machine/constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "base/settings.hpp"

namespace lull::model {
namespace {

using enum origin;

// Limits of any time, size or rate of a machine; sums of some of them still fit into an integer.
constexpr double most = 1e18;
constexpr bounds not_negative{0, most}, positive{1e-9, most}, from_1{1, most}, share{0, 1}, positive_share{1e-6, 1};
constexpr bounds count{1, 1 << 30};
constexpr bounds buffer{64, 1 << 30};
constexpr bounds percent{0, 99};                    // at most 99, since none of a hundred lies beyond the last
constexpr bounds part_of_a_second{1, 999'999'999};  // in ns, as a timespec holds them

consteval calibration by(const char* figure) { return {figure, ""}; }
constexpr calibration trade_off{"", "a trade-off, not a property of the machine"};
constexpr calibration by_the_job{"", "each job measures its own as it runs"};
constexpr calibration by_other_sizes{"", "finding the best size takes a run for each size: make bench-aggregation"};
constexpr calibration by_mpi_programs{"", "measurable only with MPI programs: make bench-mpi-wait"};
constexpr calibration by_streams{"", "measurable only by runs with several values: make bench-one-sided"};
constexpr calibration by_runs{"", "the first run of a simulation measures it"};
constexpr calibration by_aggregators{"", "each aggregator corrects its choice by the measured times of its phases"};

// The member, and its name as text.
// clang-format off
#define LULL_MEMBER(member)                                               \
  #member, std::is_integral_v<decltype(machine::member)>,                 \
  [](const machine& of) { return static_cast<double>(of.member); },       \
  [](machine& of, double to) { of.member = static_cast<decltype(machine::member)>(to); }

// The members of one kind of waits; each kind has separate values.
#define LULL_WAITING(kind, from, because, by_whom)                                                 \
  constant{LULL_MEMBER(kind.assumed_wake_up_latency_ns), not_negative, "ns",                       \
           "The delay with which a timer wakes a thread, until this job has measured it.", chosen, \
           "generous, for an idle virtual machine", by("wake_ups.timer_ns, its high")},            \
  constant{LULL_MEMBER(kind.cold_start_ns), not_negative, "ns",                                    \
           "The cost of a wake-up beyond its latency: cold caches, the rest of the message.",      \
           from, because, by_whom},                                                                \
  constant{LULL_MEMBER(kind.least_slack_ns), not_negative, "ns",                                   \
           "The shortest slack, less the time that a wait spins anyway, for which a sleep pays.",  \
           from, because, by_whom},                                                                \
  constant{LULL_MEMBER(kind.shortest_sleep_ns), not_negative, "ns",                                \
           "The shortest rest of a sleep for which a timer is set.", chosen,                       \
           "several times the duration of a system call", trade_off},                              \
  constant{LULL_MEMBER(kind.least_slack_per_margin), from_1, "",                                   \
           "A waiter wakes before the predicted end by at most the slack divided by this.",        \
           from, because, trade_off},                                                              \
  constant{LULL_MEMBER(kind.timers_in_time_pct), percent, "%",                                     \
           "The share of timers that are no later than a wait allows for.", from, because, trade_off}
// clang-format on

constexpr std::array table{
    constant{LULL_MEMBER(correction.weight_of_the_last), share, "share",
             "The weight of the latest observation in the running mean of all.", chosen,
             "15 observations follow a machine that becomes ten times slower", trade_off},
    constant{LULL_MEMBER(correction.spreads_of_an_outlier), not_negative, "spreads",
             "An observation that deviates by more than this many spreads is clipped to that deviation.", chosen,
             "a time slice lost to another program moves a term of 3 µs by a tenth", trade_off},
    constant{LULL_MEMBER(correction.least_spread), share, "share",
             "The least spread that is assumed, as a share of the value.", chosen,
             "if the spread were underestimated, all observations would be outliers", trade_off},
    constant{LULL_MEMBER(correction.least_gain), share, "share",
             "The least predicted gain for which the choice changes to another alternative.", chosen,
             "hysteresis, so that a choice does not flap", trade_off},
    constant{LULL_MEMBER(correction.looks_to_switch), count, "looks",
             "The number of consecutive checks in which another alternative must promise this gain.", chosen,
             "hysteresis, so that a choice does not flap", trade_off},
    constant{LULL_MEMBER(correction.least_gain_of_a_route), share, "share",
             "A smaller saving by another route of items is ignored.", chosen,
             "the cost of changing the route is added separately", trade_off},
    constant{LULL_MEMBER(network.ns_per_message), not_negative, "ns",
             "The cost of a message between nodes, apart from its bytes, until the job has measured it.", measured,
             "lull calibrate: tcp over the loopback, 2.5 to 5 µs", by("transports.network, gap_ns of the first piece")},
    constant{LULL_MEMBER(network.ns_per_byte), not_negative, "ns",
             "The cost of each byte of a message between nodes, until the job has measured it.", chosen,
             "10 G Ethernet", by("transports.network, ns_per_byte of the last piece")},
    constant{LULL_MEMBER(aggregation.ns_per_item), not_negative, "ns",
             "The cost of an item that takes one hop, with 4 PEs on 2 nodes.", measured,
             "docs/design/aggregation-speed.md, Short phases between nodes: 6.1 ns; 2.4 with 2 PEs on one node",
             by_aggregators},
    constant{LULL_MEMBER(aggregation.ns_per_item_passed_on), not_negative, "ns",
             "The cost of each further hop of an item.", measured,
             "docs/design/aggregation-speed.md, Short phases between nodes: two hops take 7.7 ns", by_aggregators},
    constant{LULL_MEMBER(aggregation.ns_per_item_of_shared_buffer), not_negative, "ns",
             "The additional cost of an item if the PEs of a node share a buffer.", measured,
             "docs/design/aggregation-speed.md, Short phases between nodes: 16.5 ns with buffers per node, which also "
             "take two hops",
             by_aggregators},
    constant{LULL_MEMBER(aggregation.message_share), positive_share, "share",
             "A buffer between nodes is large enough if the fixed cost of its message is this share of the cost of its "
             "bytes.",
             chosen, "the most that larger buffers could gain", trade_off},
    constant{LULL_MEMBER(aggregation.smallest_inter_node_buffer_bytes), buffer, "bytes",
             "The smallest buffer between nodes that Lull chooses.", chosen, "a bound", trade_off},
    constant{LULL_MEMBER(aggregation.largest_inter_node_buffer_bytes), buffer, "bytes",
             "The largest buffer between nodes that Lull chooses.", chosen, "a bound on memory", trade_off},
    constant{LULL_MEMBER(aggregation.largest_intra_node_buffer_bytes), buffer, "bytes",
             "The largest buffer within a node that Lull chooses.", measured,
             "docs/design/aggregation-speed.md, Buffers within a node: larger ones gain nothing, smaller ones pay 0.8 "
             "µs each more often",
             by_other_sizes},
    constant{LULL_MEMBER(aggregation.usual_stage_bytes), buffer, "bytes",
             "The size of a stage, in which small items for another PE of the node are collected before they move to "
             "its buffer.",
             measured, "docs/design/aggregation-speed.md, Stages: 1 to 8 KiB are alike", by_other_sizes},
    constant{LULL_MEMBER(aggregation.smallest_stage_bytes), buffer, "bytes",
             "The smallest stage that is used; with less memory there is none.", measured,
             "docs/design/aggregation-speed.md, Stages: 512 bytes are a little worse than 1 KiB", by_other_sizes},
    constant{LULL_MEMBER(aggregation.smallest_buffer_bytes), buffer, "bytes", "The smallest buffer that is possible.",
             chosen, "a header and some items", trade_off},
    constant{LULL_MEMBER(aggregation.ns_per_barrier), not_negative, "ns",
             "The cost of the barrier that ends a phase without buffers, within a node.", measured,
             "measured again by each aggregator: 2 PEs on one node, 0.3 to 0.6 µs", by_the_job},
    constant{LULL_MEMBER(aggregation.ns_per_empty_phase), not_negative, "ns",
             "The cost of a phase that uses buffers and has no item.", measured,
             "measured again by each aggregator: 2 PEs on one node, 2.1 to 3 µs", by_the_job},
    constant{LULL_MEMBER(aggregation.ns_per_direct_item), not_negative, "ns",
             "The cost of an item that goes to its PE without a buffer.", measured,
             "measured again by each aggregator: 2 PEs on one node, 8 to 12 ns", by_the_job},
    constant{LULL_MEMBER(thread_blocks.handed_over_bytes), buffer, "bytes",
             "The size of a block of items that another thread of the PE handles.", measured,
             "docs/design/aggregation-speed.md, Threads of a PE: half of this size is worse", by_other_sizes},
    constant{LULL_MEMBER(thread_blocks.own_bytes), buffer, "bytes",
             "The size of a block of items that the thread itself handles.", measured,
             "docs/design/aggregation-speed.md, Threads of a PE: twice this size is worse", by_other_sizes},
    constant{LULL_MEMBER(thread_blocks.stages_bytes), buffer, "bytes",
             "The total size of the stages for all parts of the PE, in which items are collected before they move to a "
             "block.",
             chosen, "half of a first-level cache", trade_off},
    LULL_WAITING(waiting, chosen, "a sleep must save more than a wake-up and its uncertainty cost", trade_off),
    LULL_WAITING(waiting_of_mpi, measured, "docs/explanation/mpi-waiting.md, What was measured", by_mpi_programs),
    LULL_WAITING(waiting_of_mpi_streams, measured, "docs/explanation/mpi-waiting.md, Streams", by_mpi_programs),
    LULL_WAITING(waiting_of_mpi_handshakes, measured, "docs/explanation/mpi-waiting.md, What was measured",
                 by_mpi_programs),
    constant{LULL_MEMBER(progress.stream_of_waits_ns), not_negative, "ns",
             "Waits that end within this time of each other form a stream, during which the progress thread does not "
             "check for messages.",
             measured,
             "make bench-one-sided, docs/design/one-sided-speed.md: two turns cost some 3 µs, a wake-up of the "
             "progress thread some 15",
             by_streams},
    constant{LULL_MEMBER(progress.stand_back_share), from_1, "",
             "When a stream ends, a message may wait for the progress thread for at most the duration of the stream "
             "divided by this.",
             chosen, "the thread's wake-ups to check must cost little", trade_off},
    constant{LULL_MEMBER(progress.least_stand_back_ns), part_of_a_second, "ns",
             "The lower limit of the time that a message may wait for the progress thread.", chosen,
             "several times stream_of_waits_ns", trade_off},
    constant{LULL_MEMBER(progress.most_stand_back_ns), part_of_a_second, "ns",
             "The upper limit of the time that a message may wait for the progress thread.", chosen,
             "a bound on the delay of a message", trade_off},
    constant{LULL_MEMBER(messages.rendezvous_from_bytes), from_1, "bytes",
             "UCX sends messages below this size eagerly, unless UCX_RNDV_THRESH is set.", measured,
             "make bench-one-sided, with UCX_RNDV_THRESH: a rendezvous costs three sleeps instead of one, and was "
             "slower even when polling",
             by_streams},
    constant{LULL_MEMBER(transforming.ns_per_message), not_negative, "ns",
             "The cost of a small message for its sender, until this job has measured it.", measured,
             "lull calibrate: tcp over the loopback, 2.5 to 5 µs", by("transports.network, gap_ns of the first piece")},
    constant{LULL_MEMBER(transforming.ns_per_copied_byte), positive, "ns",
             "The cost of copying a byte of a put, until this job has measured it.", measured,
             "lull calibrate: 2.6 to 14 GB/s", by("memory.copy_warm_bytes_per_s")},
    constant{LULL_MEMBER(transforming.ns_per_coalesced_put), not_negative, "ns",
             "The cost of a put in a message of many puts, apart from its bytes.", measured,
             "docs/explanation/rewritten-puts.md: 20 to 30 ns", by_streams},
    constant{LULL_MEMBER(transforming.fewest_in_a_run_to_begin), from_1, "puts",
             "The number of consecutive puts to one PE from which coalescing begins.", chosen,
             "between this and the limit for continuing, nothing changes", trade_off},
    constant{LULL_MEMBER(transforming.fewest_in_a_run_to_go_on), from_1, "puts",
             "The number of consecutive puts to one PE from which coalescing continues.", chosen,
             "below two there is nothing to coalesce", trade_off},
    constant{LULL_MEMBER(transforming.most_of_a_run), count, "puts",
             "A longer run of consecutive puts counts as this many.", chosen, "a single long run is forgotten soon",
             trade_off},
    constant{LULL_MEMBER(transforming.first_abstention_puts), count, "puts",
             "The number of puts during which coalescing to a PE is suspended after puts to it were delayed twice; "
             "doubled each time.",
             chosen, "this many puts cost as much as one such delay", trade_off},
    constant{LULL_MEMBER(transforming.longest_abstention_puts), count, "puts",
             "The maximum number of puts during which coalescing to a PE is suspended.", chosen, "a program may change",
             trade_off},
    constant{LULL_MEMBER(transforming.messages_to_forgive), count, "messages",
             "The number of messages sent in time after which that number of puts is halved.", chosen,
             "a program may change", trade_off},
    constant{
        LULL_MEMBER(transforming.first_delay_in_messages), from_1, "messages",
        "Delays of puts that were left lying, in messages and beyond what coalescing has saved lately, after which a "
        "put behind a quiet is a flag.",
        chosen, "a smaller delay may be the work of the system's scheduler", trade_off},
    constant{LULL_MEMBER(transforming.delay_over_saving), from_1, "1",
             "If delays go on, coalescing is suspended when they are this many times as long.", chosen,
             "what coalescing saves is certain, and whether another PE waits is not", trade_off},
    constant{LULL_MEMBER(transforming.most_copied_bytes), not_negative, "bytes", "Larger sources are not copied.",
             chosen, "a bound on the time of a copy", trade_off},
    constant{LULL_MEMBER(transforming.most_copied_bytes_under_way), not_negative, "bytes",
             "No source is copied while this many bytes of copies are outstanding.", chosen, "a bound on memory",
             trade_off},
    constant{LULL_MEMBER(rdma.ns_per_operation), not_negative, "ns",
             "The cost of a transfer by RDMA, apart from its bytes, until this job has measured it.", measured,
             "measured again by each job: 0.15 to 0.3 µs over UCX's shared memory", by_the_job},
    constant{LULL_MEMBER(rdma.least_ns_per_copied_byte), positive, "ns",
             "The least cost of copying a byte, even if copies of warm bytes were faster.", chosen, "50 GB/s",
             trade_off},
    constant{LULL_MEMBER(rdma.smallest_put_bytes), not_negative, "bytes", "Smaller puts are sent as messages.", chosen,
             "most are flags, for which the target waits", trade_off},
    constant{LULL_MEMBER(output.storage_bytes_per_s), from_1, "bytes/s",
             "The bandwidth of the storage for all writers together.", chosen, "the storage system of a small cluster",
             by("storage.bytes_per_s")},
    constant{LULL_MEMBER(output.writer_bytes_per_s), from_1, "bytes/s", "The bandwidth of the storage for one writer.",
             chosen, "a core that copies into the page cache", by("storage.writer_bytes_per_s")},
    constant{LULL_MEMBER(output.writers_at_half_speed), positive, "writers",
             "The number of simultaneous writers that together reach half of the storage's bandwidth.", chosen,
             "writers do not slow each other down, as on a local disk", by("storage.writers_at_half_speed")},
    constant{LULL_MEMBER(output.link_bytes_per_s), from_1, "bytes/s", "The bandwidth of a node's link.", chosen,
             "the payload of 10 G Ethernet", by("transports.network, ns_per_byte of the last piece")},
    constant{LULL_MEMBER(output.copy_bytes_per_s), from_1, "bytes/s",
             "The rate at which a core copies into warm memory.", measured, "lull calibrate: 2.6 to 14 GB/s",
             by("memory.copy_warm_bytes_per_s")},
    constant{LULL_MEMBER(output.computing_use), share, "share", "How busy a core is whose process computes.", chosen,
             "the process only computes", by_runs},
    constant{LULL_MEMBER(output.writing_use), share, "share", "How busy a core is whose process writes and syncs.",
             measured, "docs/explanation/simulation-output.md, The table at the end: a server takes a fifth", by_runs},
    constant{LULL_MEMBER(output.waiting_use), share, "share", "How busy a core is whose process waits.", chosen,
             "waiting processes sleep under Lull", by_runs},
    constant{LULL_MEMBER(output.idle_node_watts), not_negative, "W", "The power of an idle node.", chosen,
             "a server of two sockets", by("watts.idle_node")},
    constant{LULL_MEMBER(output.busy_core_watts), not_negative, "W", "The power that each busy core adds to its node.",
             chosen, "a server of two sockets", by("watts.one_core, less watts.idle_node")},
    constant{LULL_MEMBER(output.least_gain), share, "share", "The least predicted gain for which a change is advised.",
             chosen, "repeated runs differ by as much", trade_off},
    constant{LULL_MEMBER(output.trusted_share), not_negative, "share",
             "If the model's error for the run that it is based on is larger, the advice says so.", chosen,
             "a larger error makes the advice doubtful", trade_off},
    constant{LULL_MEMBER(output.trial_share), share, "share",
             "The maximum share of the cost of output that is spent on trying the other method of writing.", chosen,
             "a bound on the cost of trials", trade_off},
    constant{LULL_MEMBER(output.fewest_between_trials), count, "files",
             "The minimum number of files between two trials of the other method of writing.", chosen,
             "a bound on the cost of trials", trade_off},
    constant{LULL_MEMBER(output.least_telling_bytes), not_negative, "bytes",
             "Smaller files are not used to measure the cost of a byte.", chosen,
             "opening and closing dominate their cost", trade_off},
    constant{LULL_MEMBER(recording.ns_per_event), not_negative, "ns",
             "The cost of recording an event of a traced program; the uncertainty of its predicted time.", measured,
             "make bench-trace, ns_per_event", by("recording.ns_per_event")},
};
#undef LULL_WAITING
#undef LULL_MEMBER

struct ordered_pair {
  const char *low, *high;
};
constexpr std::array ordered{
    ordered_pair{"aggregation.smallest_inter_node_buffer_bytes", "aggregation.largest_inter_node_buffer_bytes"},
    ordered_pair{"progress.least_stand_back_ns", "progress.most_stand_back_ns"},
    ordered_pair{"transforming.first_abstention_puts", "transforming.longest_abstention_puts"},
};

// As many of the nearest names as fit into a line.
std::string nearest(std::string_view name) {
  constexpr std::size_t shown = 3;
  std::vector<std::pair<std::size_t, const char*>> all;
  all.reserve(table.size());
  for (const constant& one : table) all.emplace_back(edit_distance(name, one.name), one.name);
  std::ranges::stable_sort(all, {}, &std::pair<std::size_t, const char*>::first);
  std::string words;
  for (std::size_t i = 0; i < shown; ++i)
    words += fmt::format("{}{}", i == 0 ? "" : i + 1 == shown ? " and " : ", ", all[i].second);
  return words;
}

}  // namespace

std::span<const constant> all_constants() { return table; }

const constant* find_constant(std::string_view name) {
  const auto* const found = std::ranges::find_if(table, [&](const constant& one) { return name == one.name; });
  return found == table.end() ? nullptr : found;
}

std::string problem_of_constant(std::string_view name, double value) {
  const constant* const row = find_constant(name);
  if (!row) return fmt::format("there is no constant {}; the nearest are {}", name, nearest(name));
  if (!(value >= row->range.least && value <= row->range.most))
    return fmt::format("{} is {}, which is not in {} to {}", name, value, row->range.least, row->range.most);
  if (row->whole && value != std::floor(value))
    return fmt::format("{} is {}, which is not a whole number", name, value);
  return "";
}

std::string contradiction_in(const machine& all) {
  for (const auto& [low, high] : ordered) {
    const double least = find_constant(low)->get(all), greatest = find_constant(high)->get(all);
    if (least > greatest) return fmt::format("{} is {}, more than {}, {}", low, least, high, greatest);
  }
  return "";
}

}  // namespace lull::model
