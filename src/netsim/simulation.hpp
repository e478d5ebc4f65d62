// What a simulation is asked and what it answers: plain data, in SI units scaled to whole numbers (picoseconds, bytes).
//
// `simulate` runs one simulation to its end in the calling thread. It is a function of its argument alone: the same
// simulation gives the same result, to the bit. It throws lull::usage_error when the description
// contradicts itself, naming the key in the user's file, and lull::error when the network deadlocks.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "netsim/power/power_mode.hpp"
#include "netsim/routing.hpp"
#include "netsim/topology.hpp"

namespace lull::netsim {

struct network_parameters {
  std::int64_t packet = 4096;          // largest packet, bytes
  double bandwidth = 12.5e9;           // of a link in one direction, bytes/s
  double nic_bandwidth = 12.5e9;       // of a node's link, both directions
  picoseconds cable_delay = 50'000;    // first bit, end to end
  picoseconds switch_delay = 100'000;  // from the head in the input buffer to the head in the output buffer
  picoseconds nic_delay = 500'000;     // from a message's creation to its first bit, and from its last bit to its end
  picoseconds credit_delay = 100'000;  // of a credit in the switches; the cable's delay comes on top
  std::int64_t input_buffer = 65536;   // bytes per port and virtual channel
  std::int64_t output_buffer = 16384;  // bytes per port and virtual channel
  unsigned virtual_channels = 0;       // 0: as many as the routing needs
  bool cut_through = true;             // false: store and forward
  picoseconds memory_delay = 500'000;  // of a message between processes of a node
  double memory_bandwidth = 10e9;      // the same, bytes/s
  enum class queue_model : std::uint8_t { automatic, explicit_queues, fifo } queues = queue_model::explicit_queues;
};

struct routing_parameters {
  netsim::algorithm algorithm = netsim::algorithm::adaptive;
  picoseconds bias = 0;   // a detour must be this much better, queue x hops
  double reluctance = 1;  // power-aware: a sleeping port counts as busy for so many wake-ups
};

// A row of the table of power modes, and what its keys were given.
struct power_parameters {
  std::string mode = "active";
  values own;
};
[[nodiscard]] link_policy policy_of(const power_parameters& given);

class workload;
struct job_setup;

enum class arrivals : std::uint8_t { poisson, periodic, bursty, closed };

struct job {
  std::string name;
  std::vector<std::uint32_t> nodes;  // of each process; processes of a program may share one
  std::string pattern = "uniform";   // name in the table of workloads
  // Instead of a row of that table: a workload of the caller's own.
  std::function<std::unique_ptr<workload>(const job_setup&)> make = {};
  values own;  // what its keys were given
  netsim::arrivals arrivals = netsim::arrivals::poisson;
  double load = 0.5;             // open loop: offered bytes per process, as share of nic_bandwidth
  std::int64_t message = 16384;  // bytes
  std::int64_t messages = 100;   // open loop: created per process, in all; 0: until `end`
  picoseconds start = 0;
  // bursty: messages back to back for `burst` on average, then a pause such that the mean load is `load`
  picoseconds burst = 10'000'000;
  // closed: `iterations` of: compute, then one message to each partner (all-to-all: each other process), then wait
  // until they have been sent and the messages of this iteration meant for the process have arrived
  std::int64_t iterations = 10;
  picoseconds compute = 100'000'000;
};

struct simulation {
  std::string source = "read the simulation";  // begins the errors about it
  std::uint64_t seed = 1;
  std::string topology;  // name in the table
  netsim::parameters parameters;
  network_parameters network;
  routing_parameters routing;
  power_parameters power;
  std::vector<job> jobs;
  picoseconds end = never;  // of simulated time
  picoseconds warmup = 0;   // what was created before is simulated, but not in the latencies
};

struct state_of_run {
  picoseconds now;
  std::uint64_t events;
  std::uint64_t messages_done;
  std::uint64_t messages_expected;  // 0: not known
};

// Counts in bins of a sixteenth of an octave: a percentile read from them is right to 6 %. Bin b begins, for b < 32, at
// b picoseconds, else at (16 + b mod 16) << (b / 16 - 1); statistics.hpp has both directions.
struct histogram {
  std::vector<std::uint64_t> counts;
  std::uint64_t count = 0;
  double sum = 0;  // picoseconds
  picoseconds least = never;
  picoseconds most = 0;
  std::vector<double> batch_means;  // of consecutive parts of the run, for a confidence interval
};

// What the time of the processes of a program has gone on, picoseconds summed over them, from the begin of the program
// to its end. Overhead of sends is sending, that of receives waiting.
struct process_time {
  double computing = 0;
  double sending = 0;  // until messages have left
  double waiting = 0;  // for messages, answers and collectives
};

struct job_result {
  std::string name;
  picoseconds started = 0;
  picoseconds ended = 0;  // last message delivered, last iteration or last process over
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;    // delivered
  histogram message_latency;  // creation to last byte delivered
  std::vector<picoseconds> iteration_ends =
      {};  // when the last process ended each, of those that all have ended; closed loops and programs
  // Of programs.
  std::optional<process_time> time = {};
  std::uint64_t memory_messages = 0;  // between processes of a node; not among `messages`
  std::uint64_t memory_bytes = 0;
  std::vector<std::string> remarks = {};  // what a reader of the result must know, a line each
};

struct link_result {
  // `from` and `to` are switches, or nodes where the bit in `kind` says so
  std::uint32_t from;
  std::uint32_t to;
  enum class link_kind : std::uint8_t { injection, ejection, network } kind;
  std::uint64_t packets;
  std::uint64_t bytes;
  std::uint64_t wakes;
  picoseconds deep_sleep;
  picoseconds fast_wake;
  picoseconds slow;  // adaptive_rate
  picoseconds busy;  // transmitting, at the rate it had
};

struct result {
  picoseconds ended = 0;
  std::uint64_t events = 0;
  std::uint64_t packets = 0;      // delivered
  std::uint64_t packet_hops = 0;  // crossings of a link by a packet
  std::uint64_t packets_injected = 0;
  std::uint64_t bytes_injected = 0;
  std::uint64_t bytes_delivered = 0;
  std::uint64_t messages_created = 0;
  std::uint64_t messages_delivered = 0;
  double loop_cpu_s = 0;  // CPU time of the event loop alone
  double setup_cpu_s = 0;
  bool stopped = false;  // by the progress function
  unsigned virtual_channels = 0;
  bool fifo = false;  // which of the two models ran
  std::string why_not_fifo;
  picoseconds window = 0;           // look-ahead
  histogram packet_latency;         // creation of the message to delivery of the packet
  histogram network_latency;        // first bit at the source to last bit at the destination
  std::vector<std::uint64_t> hops;  // packets by number of links crossed
  std::vector<job_result> jobs;
  std::vector<link_result> links;
  link_policy policy;  // that they followed
};

// `shown` is called some ten times a second of wall time; when it answers false the simulation ends at once, with what
// it has (`stopped`). What it throws ends the simulation, too, also while a large network is set up: then it is called with
// zeros, and its answer is not looked at.
[[nodiscard]] result simulate(const simulation& asked, const progress& shown);

}  // namespace lull::netsim
