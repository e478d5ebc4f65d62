// The cost of a simulation's output by each approach, in time, CPU use, power and energy, and the approach with the
// lowest cost: pure functions of the machine, the simulation and the writing processes.
//
// Of nodes · cores processes, `clients` compute and `servers` write; without servers each client writes its own output.
// A step takes t = core seconds / clients. An output of B bytes, every k steps,
//
//   is written in     B / min(writers · writer rate, storage rate / (1 + writers / writers at half speed))
//   is copied in      B / (clients · copy rate)                  if there are servers, by the clients into memory
//   is transferred in B / (link rate · min(server nodes, client nodes))            with dedicated nodes
//
// Time partitioning does one after the other: outputs · (k·t + write). With servers these are the stages of a pipeline,
// whose buffer holds at least one output: (k·t + copy) + transfer + write + (outputs - 1) · the longest of the three.
//
//   CPU use = (use while computing · computing + copying + use while writing · writing + use while waiting · the rest)
//             / (all cores · time)                               each byte sent to another node is copied twice
//   power   = nodes · idle power + busy cores · power of a busy core
//
// See docs/explanation/output-model.md.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.hpp"

namespace lull::model {

enum class output_approach { time_partitioning, dedicated_cores, dedicated_nodes };

struct output_way {
  output_approach how = output_approach::time_partitioning;
  int count = 0;  // of servers on each node, or of dedicated nodes
  bool operator==(const output_way&) const = default;
};

// As in LULL_STAGE: "dedicated-cores=2".
[[nodiscard]] std::string name_of(const output_way& way);
[[nodiscard]] std::optional<output_way> way_of(std::string_view name);

struct output_machine {
  int nodes = 1, cores = 1;  // cores per node, with one process each
  output_costs costs;
};

struct simulation {
  double core_seconds_per_step = 0;     // of all cores together
  int steps = 0, steps_per_output = 1;  // steps_per_output at least 1
  double bytes_per_output = 0;          // of all processes together
};

struct output_prediction {
  double seconds = 0;
  double cpu_use = 0;  // of all cores, 0 to 1
  double watts = 0, joules = 0;
  double stall_seconds_per_output = 0;  // in which a client does not compute, including its own writing
  double write_seconds_per_output = 0;
};

// `way` leaves at least one client: it is one of ways_of(on).
[[nodiscard]] output_prediction predict_output(const output_machine& on, const simulation& what, const output_way& way);

// All that leave at least one client: time partitioning first, then by count.
[[nodiscard]] std::vector<output_way> ways_of(const output_machine& on);

enum class output_objective { time, energy, edp };
[[nodiscard]] double cost_of(const output_prediction& predicted, output_objective objective);

struct output_choice {
  output_way way;
  output_prediction predicted;
};
// Sorted by cost; equal ones keep the order of `ways`.
[[nodiscard]] std::vector<output_choice> choose_output(const output_machine& on, const simulation& what,
                                                       std::span<const output_way> ways, output_objective objective);

// The rate of this number of writers together.
struct seen_rate {
  int writers;
  double bytes_per_s;
};
// Fits the storage's total rate, the rate of one writer, and how writers hinder each other, to rates seen with
// different numbers of writers. Needs at least one; from one alone it takes the total rate, and that one writer gets no
// less than was seen.
void learn_storage(std::span<const seen_rate> seen, output_costs& costs);

// A measured run. Seconds and bytes are sums over the processes of a role.
struct output_run {
  int nodes = 1, clients = 1, servers = 0;
  double outputs = 0;
  double compute_s = 0, client_write_s = 0, client_cpu_s = 0;
  double server_write_s = 0, server_cpu_s = 0;
  double handed_over_bytes = 0, wrote_itself_bytes = 0, dropped_bytes = 0;
};

struct output_case {
  output_machine machine;
  simulation what;
};
// The machine and the simulation as the first of `runs` shows them; what it does not show stays as in `known`. Each
// output counts as a step. The joint rate of its writers is taken as the storage's rate; runs with other numbers of
// writers, if any, show how it depends on them. None if the first run wrote nothing.
[[nodiscard]] std::optional<output_case> case_of(std::span<const output_run> runs, const output_costs& known = {});

// An unknown simulation on this machine, with assumed parameters.
[[nodiscard]] simulation assumed_on(const output_machine& on);

}  // namespace lull::model
