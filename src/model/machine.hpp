// What the predictions of this room know of the machine: calibrated constants, each with its unit in its name.
//
// The defaults are here and nowhere else. "Measured" means: on the two-core virtual machine on which Lull is
// developed; the page or command behind it repeats the measurement. "Chosen" means: a bound or a trade-off that no
// measurement gives. What lull calibrate has measured of the machine at hand takes the place of some of them
// (machine_file.hpp). What is measured when a job runs, such as the link between nodes, is filled in by whoever measured.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

namespace lull::model {

// A message between nodes, beyond its bytes, and each of its bytes. 0: there are no other nodes.
struct link_costs {
  double ns_per_message = 0, ns_per_byte = 0;
};

// What the threads of a PE push for that PE itself. Measured (docs/design/aggregation-speed.md, "Threads of a PE"): a
// block that another thread handles is better than one of half this size, one that its own thread handles worse when it is twice
// as large. Chosen: stages, in which items are collected before they move to a block, take half of a first-level cache, for all
// parts of the PE together.
struct thread_block_sizes {
  std::size_t handed_over_bytes = 65'536, own_bytes = 32'768, stages_bytes = 16'384;
};

// Items of message aggregation, and the buffers in which they travel.
struct aggregation_costs {
  // An item by one hop; each further hop; and more where PEs of a node fill a buffer together. Measured: histogram of 200,000 items
  // takes of CPU time for an item, with 4 PEs on 2 nodes, 6.1 ns by one hop, 7.7 by two, 16.5 by buffers of nodes, which are two
  // hops as well; with 2 PEs on one node 2.4 and 3.7 (docs/design/aggregation-speed.md, "Short phases between nodes").
  double ns_per_item = 6, ns_per_item_passed_on = 2, ns_per_item_of_shared_buffer = 9;

  // A buffer between nodes is large enough when its message costs this share of what its bytes cost. Chosen.
  double message_share = 0.05;
  std::size_t smallest_inter_node_buffer_bytes = 8192, largest_inter_node_buffer_bytes = 262'144;  // chosen

  // Measured (docs/design/aggregation-speed.md, "Buffers within a node"): larger ones gain nothing, smaller ones
  // pay 0.8 µs each more often.
  std::size_t largest_intra_node_buffer_bytes = 65'536;
  // Measured (the same page, "Stages"): where small items for another PE of the node are written before they move to its buffer,
  // 1 to 8 KiB are alike, 512 bytes a little worse. Chosen: all stages take an eighth of the second-level cache at most.
  std::size_t usual_stage_bytes = 2048, smallest_stage_bytes = 512;
  thread_block_sizes thread_blocks;
  std::size_t smallest_buffer_bytes = 512;       // chosen: a header and some items
  std::size_t l2_bytes = std::size_t{1} << 20U;  // of one core; base/topology.hpp knows the machine's own

  // Phases without buffers, within a node: what ends such a phase, what a phase through buffers takes that has no item, and a
  // direct item. Measured: 2 PEs on one node, 0.3 to 0.6 µs, 2.1 to 3 µs, 8 to 12 ns.
  double ns_per_barrier = 500, ns_per_empty_phase = 2200, ns_per_direct_item = 10;
};

// Waits, and the sleeps in them.
struct waiting_costs {
  // How late a timer wakes a thread, before any has been seen. Chosen, generously, for a virtual machine in idle state.
  std::int64_t assumed_wake_up_latency_ns = 60'000;
  // What a wake-up costs beyond its latency: cold caches, the rest of the message. Chosen, as the next.
  std::int64_t cold_start_ns = 60'000;
  // A sleep of a shorter slack, less what a wait would spin anyway, costs as much as it saves: a wake-up and its
  // uncertainty.
  std::int64_t least_slack_ns = 120'000;
  // What is left of a sleep that is not worth a timer any more.
  std::int64_t shortest_sleep_ns = 10'000;
  // Awake before the predicted end by at most the slack over this.
  std::int64_t least_slack_per_margin = 5;
  // Of 100 timers, so many are no later than a wait is prepared for.
  std::size_t timers_in_time_pct = 90;
  // Whether a wait that is known to be too short for a sleep is spun through, instead of for a fixed time, and one that
  // is overdue is predicted anew, by those before it that were longer still.
  bool reconsider = false;
};

// Waits of MPI programs for each other: more often for a rank that computes than for the network, more often of
// milliseconds than of microseconds; and most end with a small message. Measured (docs/explanation/mpi-waiting.md).
inline constexpr waiting_costs waiting_costs_of_mpi{.cold_start_ns = 20'000,
                                                    .least_slack_ns = 100'000,
                                                    .least_slack_per_margin = 4,
                                                    .timers_in_time_pct = 75,
                                                    .reconsider = true};
// The same of a call in which many messages come, whatever it does: overdue is no more than one of them.
inline constexpr waiting_costs waiting_costs_of_mpi_streams{
    .cold_start_ns = 20'000, .least_slack_ns = 100'000, .least_slack_per_margin = 4, .timers_in_time_pct = 75};
// The same over a network, and for large messages: a handshake answered late costs more than a short sleep saves.
inline constexpr waiting_costs waiting_costs_of_mpi_handshakes{.cold_start_ns = 20'000,
                                                               .least_slack_ns = 950'000,
                                                               .least_slack_per_margin = 4,
                                                               .timers_in_time_pct = 75,
                                                               .reconsider = true};

// The progress thread of a PE, and the turns between it and a thread of the program that makes progress itself.
struct progress_costs {
  // Waits whose ends are no further apart than this are a stream. Measured: two turns cost some 3 µs, a wake-up of the
  // progress thread some 15 (docs/design/one-sided-speed.md).
  std::int64_t stream_of_waits_ns = 20'000;
  // How long a message may wait for the progress thread when a stream ends: a share of the time that the stream has
  // lasted, so that the wake-ups by which it looks cost little; at least about two of these. Chosen.
  std::int64_t stand_back_share = 20;
  std::int64_t least_stand_back_ns = 50'000, most_stand_back_ns = 500'000;
};

// Messages between nodes over UCX.
struct message_costs {
  // Below this size messages go eagerly: a rendezvous costs three sleeps instead of one, and was slower even when
  // polling. Measured.
  std::size_t rendezvous_from_bytes = std::size_t{1} << 20U;
};

// How what is predicted is corrected by what a job measures, and when a choice changes (correction.hpp). All chosen.
struct correction_rules {
  bool off = false;                  // what is predicted holds, and nothing changes (LULL_CHOOSE)
  double weight_of_the_last = 0.25;  // of an observation, among all that were seen
  // An observation that is farther away than so many spreads counts as if it were there; the spread is taken to be this share
  // of the value at least.
  double spreads_of_an_outlier = 4, least_spread = 0.1;
  // Another alternative must promise at least this share, in so many looks one after the other.
  double least_gain = 0.2;
  std::uint32_t looks_to_switch = 3;
  // And another route of items, whose change is priced: what it saves below this share is not counted. Chosen.
  double least_gain_of_a_route = 0.1;
};

// What the runtime rewrites in a program's puts to other nodes (transforming.hpp).
struct transforming_costs {
  // What a small message costs its sender, and a byte that is copied on its way, until this job has measured its own.
  // Measured: tcp over the loopback, 2.5 to 5 µs; 2.6 to 14 GB/s.
  double ns_per_message = 3000, ns_per_copied_byte = 0.2;
  // What a put costs in a message of many, besides its bytes. Measured.
  double ns_per_coalesced_put = 30;
  // Puts to one PE that follow each other until something must send them: so many to begin with coalescing, and so many
  // to go on. Chosen: between them nothing changes.
  double fewest_in_a_run_to_begin = 4, fewest_in_a_run_to_go_on = 2;
  int most_of_a_run = 64;  // a longer one counts as this, so that one long run is soon forgotten. Chosen
  // Puts for which nothing is coalesced to a PE to which puts have been left lying twice; doubled each time, and halved
  // after so many messages that left in time. Chosen: the first costs what one such delay does.
  std::uint32_t first_abstention_puts = 1024, longest_abstention_puts = 1U << 22U, messages_to_forgive = 64;
  // Larger sources are not copied, nor are any while so many bytes of copies are under way. Chosen.
  std::size_t most_copied_bytes = std::size_t{64} << 10U, most_copied_bytes_under_way = std::size_t{4} << 20U;
};

// Transfers that the network carries out by itself (rdma.hpp).
struct rdma_costs {
  // What one costs besides its bytes, the look at whether its target waits included, until this job has measured its own.
  // Measured: 0.15 to 0.3 µs over UCX's shared memory.
  double ns_per_operation = 300;
  // No byte is copied faster, whatever was seen of warm ones. Chosen: 50 GB/s.
  double least_ns_per_copied_byte = 0.02;
  // Smaller puts are messages: most are flags, which somebody waits for. Chosen.
  std::size_t smallest_put_bytes = 256;
};

// The output of a simulation, and who writes it.
struct output_costs {
  // All writers together, and one of them. Chosen: what a storage system of a small cluster, and a core that copies into
  // the page cache, give; a run's own figures take their place.
  double storage_bytes_per_s = 1e9, writer_bytes_per_s = 1e9;
  // So many writers at a time get half of it together. Chosen: they do not hinder each other, as on a local disk.
  double writers_at_half_speed = std::numeric_limits<double>::infinity();
  double link_bytes_per_s = 1.17e9;  // of a node. Chosen: the payload of 10 G Ethernet
  double copy_bytes_per_s = 2.6e9;   // of a core, into memory that is warm. Measured: 2.6 to 14 GB/s
  // How much of a core a process takes. Who waits sleeps, under Lull; a server that writes and syncs was measured to take
  // a fifth (docs/explanation/simulation-output.md, "The table at the end").
  double computing_use = 1, writing_use = 0.2, waiting_use = 0;
  // Power of a node that does nothing, and what each busy core adds. Chosen: a server of two sockets.
  double idle_node_watts = 100, busy_core_watts = 5;

  // A prediction is worth a change when it promises at least this share. Chosen: what repeated runs differ by.
  double least_gain = 0.02;
  // Where the model misses the run it was made from by more than this share, whoever reads its advice is told so. Chosen.
  double trusted_share = 0.2;

  // From output to output (handing_over.hpp). All chosen: the other way is tried now and then, for no more than this share of
  // the time that output costs, after so many files at least;
  double trial_share = 0.05;
  int fewest_between_trials = 8;
  // and smaller files say nothing of what a byte costs.
  double least_telling_bytes = 65'536;
};

// What a simulation is taken to be of which nothing is known: an atmosphere model, 2.65 µs and 101 bytes of output per cell
// (measured on one, of some 100,000 lines), which writes every 10 steps (chosen).
struct assumed_simulation {
  double core_seconds_per_step_and_cell = 2.65e-6, bytes_per_output_and_cell = 101;
  int steps_per_output = 10;
};

struct machine {
  correction_rules correction;
  link_costs link;  // as a job has measured it, or knows it
  // Between nodes, until then. Measured: tcp over the loopback, 2.5 to 5 µs. Chosen: 10 G Ethernet's bytes.
  link_costs network{3000, 0.85};
  aggregation_costs aggregation;
  waiting_costs waiting;
  progress_costs progress;
  message_costs messages;
  transforming_costs transforming;
  rdma_costs rdma;
  output_costs output;
};

}  // namespace lull::model
