// The machine's constants that the predictions of this room use, each with its unit in its name.
//
// This is the only place of the defaults. The table in constants.cpp has a row for each constant: its meaning, whether
// and where it was measured or chosen, its range, and what lull calibrate measures of it. A machine file can set each
// of them (machine_file.hpp). Not in the table are `link` and `aggregation.l2_bytes`, which a job detects, and
// booleans.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

namespace lull::model {

// The cost of a message between nodes without its bytes, and of each of its bytes. 0: there are no other nodes.
struct link_costs {
  double ns_per_message = 0, ns_per_byte = 0;
};

// Blocks of items that the threads of a PE push to that PE itself.
struct thread_block_sizes {
  std::size_t handed_over_bytes = 65'536, own_bytes = 32'768, stages_bytes = 16'384;
};

// Costs of items in message aggregation, and of the buffers in which they travel.
struct aggregation_costs {
  double ns_per_item = 6, ns_per_item_passed_on = 2, ns_per_item_of_shared_buffer = 9;
  double message_share = 0.05;
  std::size_t smallest_inter_node_buffer_bytes = 8192, largest_inter_node_buffer_bytes = 262'144;
  std::size_t largest_intra_node_buffer_bytes = 65'536;
  std::size_t usual_stage_bytes = 2048, smallest_stage_bytes = 512;
  std::size_t smallest_buffer_bytes = 512;
  std::size_t l2_bytes = std::size_t{1} << 20U;  // of one core; base/topology.hpp detects the machine's
  // Phases without buffers, within a node.
  double ns_per_barrier = 500, ns_per_empty_phase = 2200, ns_per_direct_item = 10;
};

// Costs of waits, and of sleeps in them.
struct waiting_costs {
  std::int64_t assumed_wake_up_latency_ns = 60'000;
  std::int64_t cold_start_ns = 60'000;
  std::int64_t least_slack_ns = 120'000;
  std::int64_t shortest_sleep_ns = 10'000;
  std::int64_t least_slack_per_margin = 5;
  std::size_t timers_in_time_pct = 90;
  // Whether a wait that is known to be too short for a sleep spins to its end instead of for a fixed time, and whether
  // an overdue wait is predicted again, from earlier waits that lasted even longer.
  bool reconsider = false;
};

// The progress thread of a PE, and its turns with a thread of the program that makes progress itself.
struct progress_costs {
  std::int64_t stream_of_waits_ns = 20'000;
  std::int64_t stand_back_share = 20;
  std::int64_t least_stand_back_ns = 50'000, most_stand_back_ns = 500'000;
};

// Messages between nodes over UCX.
struct message_costs {
  std::size_t rendezvous_from_bytes = std::size_t{1} << 20U;
};

// How measurements of a job correct predictions, and when a choice changes (correction.hpp).
struct correction_rules {
  bool off = false;  // predictions are final, and choices do not change (LULL_CHOOSE)
  double weight_of_the_last = 0.25;
  double spreads_of_an_outlier = 4, least_spread = 0.1;
  double least_gain = 0.2;
  std::uint32_t looks_to_switch = 3;
  double least_gain_of_a_route = 0.1;
};

// What the runtime rewrites in a program's puts to other nodes (transforming.hpp).
struct transforming_costs {
  double ns_per_message = 3000, ns_per_copied_byte = 0.2;
  double ns_per_coalesced_put = 30;
  double fewest_in_a_run_to_begin = 4, fewest_in_a_run_to_go_on = 2;
  int most_of_a_run = 64;
  std::uint32_t first_abstention_puts = 1024, longest_abstention_puts = 1U << 22U, messages_to_forgive = 64;
  double first_delay_in_messages = 25, delay_over_saving = 8;
  std::size_t most_copied_bytes = std::size_t{64} << 10U, most_copied_bytes_under_way = std::size_t{4} << 20U;
};

// Transfers that the network executes by itself (rdma.hpp).
struct rdma_costs {
  double ns_per_operation = 300;
  double least_ns_per_copied_byte = 0.02;
  std::size_t smallest_put_bytes = 256;
};

// The output of a simulation, and the processes that write it.
struct output_costs {
  double storage_bytes_per_s = 1e9, writer_bytes_per_s = 1e9;
  double writers_at_half_speed = std::numeric_limits<double>::infinity();
  double link_bytes_per_s = 1.17e9;
  double copy_bytes_per_s = 2.6e9;
  double computing_use = 1, writing_use = 0.2, waiting_use = 0;
  double idle_node_watts = 100, busy_core_watts = 5;
  double least_gain = 0.02;
  double trusted_share = 0.2;
  // Decisions between outputs (handing_over.hpp).
  double trial_share = 0.05;
  int fewest_between_trials = 8;
  double least_telling_bytes = 65'536;
};

// Programs that are traced for a prediction.
struct recording_costs {
  double ns_per_event = 11;
};

// An assumed simulation, for lack of information: an atmosphere model, 2.65 µs and 101 bytes of output per cell
// (measured on one, of some 100,000 lines), which writes every 10 steps (chosen). Not a property of the machine.
struct assumed_simulation {
  double core_seconds_per_step_and_cell = 2.65e-6, bytes_per_output_and_cell = 101;
  int steps_per_output = 10;
};

struct machine {
  correction_rules correction;
  link_costs link;                 // as a job has measured it, or knows it
  link_costs network{3000, 0.85};  // until `link` is known
  aggregation_costs aggregation;
  thread_block_sizes thread_blocks;
  waiting_costs waiting;
  // Waits in MPI programs: more often for a rank that computes than for the network, more often of milliseconds than of
  // microseconds; most end with a small message.
  waiting_costs waiting_of_mpi{.cold_start_ns = 20'000,
                               .least_slack_ns = 100'000,
                               .least_slack_per_margin = 4,
                               .timers_in_time_pct = 75,
                               .reconsider = true};
  // In a call that receives many messages: an overdue wait only means that one of them is late.
  waiting_costs waiting_of_mpi_streams{
      .cold_start_ns = 20'000, .least_slack_ns = 100'000, .least_slack_per_margin = 4, .timers_in_time_pct = 75};
  // Over a network, and for large messages: a late answer to a handshake costs more than a short sleep saves.
  waiting_costs waiting_of_mpi_handshakes{.cold_start_ns = 20'000,
                                          .least_slack_ns = 950'000,
                                          .least_slack_per_margin = 4,
                                          .timers_in_time_pct = 75,
                                          .reconsider = true};
  progress_costs progress;
  message_costs messages;
  transforming_costs transforming;
  rdma_costs rdma;
  output_costs output;
  recording_costs recording;
};

}  // namespace lull::model
