// The description and the result of a simulation: plain data, in SI units scaled to whole numbers (picoseconds, bytes).
//
// `simulate` runs one simulation to its end, in the calling thread and those that it starts. The result depends on its
// argument alone, except for the number of threads: the same simulation gives the same result, bit for bit. It throws
// lull::usage_error, which names the key in the user's file, if the description contradicts itself, and lull::error if
// the network deadlocks.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "netsim/power/pauses.hpp"
#include "netsim/power/power_mode.hpp"
#include "netsim/routing.hpp"
#include "netsim/topology.hpp"

namespace lull::netsim {

struct network_parameters {
  std::int64_t packet = 4096;          // of the largest packet, bytes
  double bandwidth = 12.5e9;           // of a link in one direction, bytes/s
  double nic_bandwidth = 12.5e9;       // of a node's link, both directions
  picoseconds cable_delay = 50'000;    // of the first bit, end to end
  picoseconds switch_delay = 100'000;  // of a packet's head, from input buffer to output buffer
  picoseconds nic_delay = 500'000;     // from a message's creation to its first bit, and from its last bit to its end
  picoseconds credit_delay = 100'000;  // of a credit in the switches, in addition to the cable's delay
  std::int64_t input_buffer = 65536;   // bytes per port and virtual channel
  std::int64_t output_buffer = 16384;  // bytes per port and virtual channel
  unsigned virtual_channels = 0;       // 0: as many as the routing needs
  bool cut_through = true;             // false: store and forward
  picoseconds memory_delay = 500'000;  // of a message between processes on a node
  double memory_bandwidth = 10e9;      // the same, bytes/s
  enum class queue_model : std::uint8_t { automatic, explicit_queues, fifo } queues = queue_model::explicit_queues;
};

struct routing_parameters {
  netsim::algorithm algorithm = netsim::algorithm::adaptive;
  picoseconds bias = 0;   // a detour must be better by this much, queue x hops
  double reluctance = 1;  // power-aware: a sleeping port counts as busy for this many wake-ups
};

// A row of the table of power modes, and the values of its keys.
struct power_parameters {
  std::string mode = "active";
  values own;
};
[[nodiscard]] link_policy policy_of(const power_parameters& given);
struct simulation;
// Whether packets may wait until a link is awake or fast enough.
[[nodiscard]] bool packets_wait_for_links(const simulation& asked);

class workload;
struct job_setup;

enum class arrivals : std::uint8_t { poisson, periodic, bursty, closed };

struct job {
  std::string name;
  std::vector<std::uint32_t> nodes;  // of each process; several processes of a program may share one
  std::string pattern = "uniform";   // name in the table of workloads
  // Creates the caller's own workload, instead of a row of that table.
  std::function<std::unique_ptr<workload>(const job_setup&)> make = {};
  values own;  // of the pattern's keys
  netsim::arrivals arrivals = netsim::arrivals::poisson;
  double load = 0.5;             // open loop: offered bytes per process, as a share of nic_bandwidth
  std::int64_t message = 16384;  // bytes
  std::int64_t messages = 100;   // open loop: total per process; 0: until `end`
  picoseconds start = 0;
  // bursty: messages back to back for `burst` on average, then a pause that makes the mean load `load`
  picoseconds burst = 10'000'000;
  // closed loop: each of `iterations` computes, sends one message to each partner (all-to-all: every other process),
  // and waits until they are sent and this iteration's messages to the process have arrived
  std::int64_t iterations = 10;
  picoseconds compute = 100'000'000;
};

// How much of each program is simulated; the whole follows from it (program/sampled_units.hpp).
struct sample_parameters {
  std::int64_t units = 1;            // of each kind in a run that are measured
  picoseconds cut = 30'000'000'000;  // the longest computing
  std::uint64_t seed = 1;            // of the choice of units, and of when jobs that run together begin
};

struct simulation {
  std::string source = "read the simulation";  // prefix of error messages
  std::uint64_t seed = 1;
  std::string topology;  // name in the table
  netsim::parameters parameters;
  network_parameters network;
  routing_parameters routing;
  power_parameters power;
  // Power modes whose saving is computed from the pauses of this run, in which no packet may wait for a link to wake.
  std::vector<power_parameters> savings = {};
  [[nodiscard]] std::vector<link_policy> saving_policies() const;
  std::vector<job> jobs;
  unsigned threads = 1;  // that simulate traffic patterns together, at most; programs take one. Same result
  // Programs run again and again until each has ended a run; the simulation ends then, at the end of a window of the
  // event queue.
  bool together = false;
  std::optional<sample_parameters> sample = {};
  std::optional<double> tolerance = {};  // the slowdown, as a share, for which job_tolerance is computed
  picoseconds end = never;               // of simulated time
  picoseconds warmup = 0;                // messages created earlier are simulated, but not counted in latencies
};

// What a power mode would have saved if its wake-ups delayed no packet.
struct saving {
  link_policy policy;
  rest_by_group rest;
};

struct state_of_run {
  picoseconds now;
  std::uint64_t events;
  std::uint64_t messages_done;
  std::uint64_t messages_expected;  // 0: unknown
};

// Counts in bins of a sixteenth of an octave, so that a percentile is accurate to 6 %. Bin b begins at b picoseconds
// for b < 32, otherwise at (16 + b mod 16) << (b / 16 - 1); statistics.hpp converts in both directions.
struct histogram {
  std::vector<std::uint64_t> counts;
  std::uint64_t count = 0;
  double sum = 0;  // picoseconds
  picoseconds least = never;
  picoseconds most = 0;
  // Of consecutive parts of the run, for a confidence interval.
  std::vector<double> batch_means;
  std::vector<std::uint64_t> batch_counts;
};

// How the processes of a program spent their time from its begin to its end: picoseconds, summed over the processes.
// The overhead of sends counts as sending, that of receives as waiting.
struct process_time {
  double computing = 0;
  double sending = 0;  // until messages have left the node
  double waiting = 0;  // for messages, answers and collectives
};

// A kind of unit of a sampled program.
struct unit_estimate {
  std::uint32_t kind;
  std::uint64_t count;     // in a run
  std::uint64_t measured;  // in all runs
  double mean, deviation;  // of the measured times, picoseconds
};

struct job_estimate {
  std::vector<unit_estimate> units = {};
  double run_time = 0;   // of a run, picoseconds
  double computing = 0;  // of all processes in a run, picoseconds
  double sending = 0;    // the same
};

// What the longest path from the begin of a program to its end consists of: picoseconds.
struct critical_path {
  double computing = 0;  // and the overhead of messages
  double sending = 0;    // until messages have left their nodes, with waiting for messages before them
  double latency = 0;    // of interfaces, cables and switches
  double queueing = 0;   // in the network beyond that
  double memory = 0;     // of messages between processes on a node
  std::uint64_t messages = 0;
  std::uint64_t memory_messages = 0;
  std::uint64_t switch_cables = 0;  // that the messages cross
};

struct tolerated_delay {
  const char* of;
  double growth = 0;                                      // of the run time, per picosecond of a small delay
  double most = 0;                                        // until the slowdown, picoseconds; infinite: any
  std::vector<std::pair<double, double>> run_times = {};  // with such a delay: both in picoseconds
};

// Of a power mode in simulation::savings, if its wake-ups delay packets. Savings are those of links that carry a packet, as
// a share of their active power.
struct tolerated_sleep {
  double slowdown = 0;            // with its hold
  double saved = 0;               // the same
  picoseconds shortest_hold = 0;  // with which the program is not slower than tolerated, to a quarter of an octave
  double shortest_slowdown = 0;   // with that hold
  double shortest_saved = 0;      // the same
};

// By how much longer messages may take until the program has slowed down by a share (tolerance/tolerance.hpp).
struct job_tolerance {
  double slowdown;
  double run_time;  // picoseconds
  std::uint64_t steps;
  critical_path path;
  // For each message of the network, each cable that it crosses, those to nodes and between switches alone, and each byte
  // that leaves a node.
  std::vector<tolerated_delay> delays = {};
  double bandwidth = 0;                      // of nodes, as a share of theirs, that is enough; 0: any
  std::vector<tolerated_sleep> sleeps = {};  // by simulation::savings
};

struct job_result {
  std::string name;
  picoseconds started = 0;
  picoseconds ended = 0;  // when the last message, iteration or process ended
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;    // delivered
  histogram message_latency;  // from creation to delivery of the last byte
  // Of closed loops and programs: when the last process ended each iteration that all have ended.
  std::vector<picoseconds> iteration_ends = {};
  // Of programs: when the last process ended each run that all have ended.
  std::vector<picoseconds> run_ends = {};
  // Of programs only.
  std::optional<process_time> time = {};
  std::uint64_t memory_messages = 0;  // between processes on a node; not included in `messages`
  std::uint64_t memory_bytes = 0;
  std::optional<job_estimate> sampled = {};
  std::optional<job_tolerance> tolerance = {};
  std::vector<std::string> remarks = {};  // what a reader of the result must know, one line each
};

struct link_result {
  // `from` and `to` are switches, or nodes if the bit in `kind` is set.
  std::uint32_t from;
  std::uint32_t to;
  enum class link_kind : std::uint8_t { injection, ejection, network } kind;
  std::uint64_t packets;
  std::uint64_t bytes;
  std::uint64_t wakes;
  picoseconds deep_sleep;
  picoseconds fast_wake;
  picoseconds slow;  // at a lower rate (adaptive_rate)
  picoseconds busy;  // transmitting, at the rate of that time
};

// What a sampled simulation says of the whole.
struct whole_run {
  double time = 0;  // until each job has ended its runs, picoseconds
  std::vector<job_estimate> jobs = {};
  double packet_hops = 0;
  rest_by_group rest = {};
};

struct result {
  picoseconds ended = 0;
  std::uint64_t events = 0;       // packets injected, arrived at a switch or sent from a queue; ends of computations
  std::uint64_t packets = 0;      // delivered
  std::uint64_t packet_hops = 0;  // packets times the links that they crossed
  std::uint64_t packets_injected = 0;
  std::uint64_t bytes_injected = 0;
  std::uint64_t bytes_delivered = 0;
  std::uint64_t messages_created = 0;
  std::uint64_t messages_delivered = 0;
  double loop_cpu_s = 0;  // CPU time of the event loop alone
  double loop_wall_s = 0;
  double setup_cpu_s = 0;
  unsigned threads = 1;  // that simulated it
  bool stopped = false;  // by the progress function
  unsigned virtual_channels = 0;
  bool fifo = false;  // whether the fast model ran (eager_queues.hpp)
  std::string why_not_fifo;
  picoseconds window = 0;           // length of a window: the look-ahead
  histogram packet_latency;         // from creation of the message to delivery of the packet
  histogram network_latency;        // from the first bit at the source to the last bit at the destination
  std::vector<std::uint64_t> hops;  // packets by number of links crossed
  std::vector<job_result> jobs;
  std::vector<link_result> links;
  link_policy policy;                // of all links
  std::vector<saving> savings = {};  // of simulation::savings
  std::optional<whole_run> sampled = {};
};

// Calls `shown` about ten times per second of wall time. If it returns false, the simulation ends at once and returns
// the result so far (`stopped`). An exception of `shown` also ends the simulation, even while a large network is set
// up; during the set-up `shown` gets zeros, and its result is ignored.
[[nodiscard]] result simulate(const simulation& asked, const progress& shown);

}  // namespace lull::netsim
