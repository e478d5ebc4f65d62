#include "model/costs/output.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

namespace lull::model {
namespace {

struct named_approach {
  output_approach how;
  std::string_view name;
};
constexpr std::array names{named_approach{output_approach::time_partitioning, "time-partitioning"},
                           named_approach{output_approach::dedicated_cores, "dedicated-cores"},
                           named_approach{output_approach::dedicated_nodes, "dedicated-nodes"}};

struct processes {
  int clients, servers;
  int client_nodes, server_nodes;  // server_nodes 0: clients and servers share nodes
};

processes processes_of(const output_machine& on, const output_way& way) {
  switch (way.how) {
    case output_approach::dedicated_cores:
      return {on.nodes * (on.cores - way.count), on.nodes * way.count, on.nodes, 0};
    case output_approach::dedicated_nodes:
      return {(on.nodes - way.count) * on.cores, way.count * on.cores, on.nodes - way.count, way.count};
    case output_approach::time_partitioning:
      break;
  }
  return {on.nodes * on.cores, 0, on.nodes, 0};
}

double storage_rate(const output_costs& costs, int writers) {
  return std::min(writers * costs.writer_bytes_per_s,
                  costs.storage_bytes_per_s / (1 + writers / costs.writers_at_half_speed));
}

// Durations for one output.
struct stages {
  double compute, copy, transfer, write;
  [[nodiscard]] double sum() const { return compute + copy + transfer + write; }
  [[nodiscard]] double longest() const { return std::max({compute + copy, transfer, write}); }
};

bool by_servers(const output_run& run) {
  return run.servers > 0 && run.server_write_s > 0 && run.handed_over_bytes > 0;
}

double bytes_of(const output_run& run) { return run.handed_over_bytes + run.wrote_itself_bytes + run.dropped_bytes; }

// None if the run wrote nothing.
std::optional<seen_rate> seen_in(const output_run& run) {
  if (std::lround(run.outputs) < 1 || run.compute_s <= 0 || run.clients < 1 || run.nodes < 1) return std::nullopt;
  if (by_servers(run)) return seen_rate{run.servers, run.handed_over_bytes * run.servers / run.server_write_s};
  if (run.client_write_s <= 0 || run.wrote_itself_bytes <= 0) return std::nullopt;
  return seen_rate{run.clients, run.wrote_itself_bytes * run.clients / run.client_write_s};
}

}  // namespace

// Seconds per byte, 1 / rate = (1 + writers / writers at half speed) / storage rate, are linear in the writers.
void learn_storage(std::span<const seen_rate> seen, output_costs& costs) {
  const auto [least, most] = std::ranges::minmax(seen, {}, &seen_rate::writers);
  if (least.writers == most.writers) {
    costs.storage_bytes_per_s = seen.front().bytes_per_s * (1 + seen.front().writers / costs.writers_at_half_speed);
    costs.writer_bytes_per_s = std::max(costs.writer_bytes_per_s, seen.front().bytes_per_s / seen.front().writers);
    return;
  }
  const auto count = static_cast<double>(seen.size());
  double mean_writers = 0, mean_cost = 0, covariance = 0, variance = 0;
  for (const seen_rate& one : seen) mean_writers += one.writers / count, mean_cost += 1 / one.bytes_per_s / count;
  for (const seen_rate& one : seen) {
    covariance += (one.writers - mean_writers) * (1 / one.bytes_per_s - mean_cost);
    variance += (one.writers - mean_writers) * (one.writers - mean_writers);
  }
  const double slope = covariance / variance;
  if (slope > 0) {  // writers hinder each other, but a single writer is slowed down by at most half
    const double alone = std::max(mean_cost - slope * mean_writers, slope * least.writers);
    costs.storage_bytes_per_s = 1 / alone;
    costs.writers_at_half_speed = alone / slope;
  } else {  // each writer is too slow to saturate the storage
    costs.storage_bytes_per_s = std::ranges::max(seen, {}, &seen_rate::bytes_per_s).bytes_per_s;
    costs.writers_at_half_speed = std::numeric_limits<double>::infinity();
    costs.writer_bytes_per_s = least.bytes_per_s / least.writers;
    return;
  }
  for (const seen_rate& one : seen)
    costs.writer_bytes_per_s = std::max(costs.writer_bytes_per_s, one.bytes_per_s / one.writers);
}

std::string name_of(const output_way& way) {
  const auto* const row = std::ranges::find(names, way.how, &named_approach::how);
  std::string name(row->name);
  if (way.how != output_approach::time_partitioning) name += "=" + std::to_string(way.count);
  return name;
}

std::optional<output_way> way_of(std::string_view name) {
  const std::size_t equals = name.find('=');
  const auto* const row = std::ranges::find(names, name.substr(0, equals), &named_approach::name);
  if (row == names.end()) return std::nullopt;
  const bool counts = row->how != output_approach::time_partitioning;
  if (equals == std::string_view::npos) return output_way{row->how, counts ? 1 : 0};
  output_way way{row->how, 0};
  const char* const end = name.data() + name.size();
  const auto [rest, status] = std::from_chars(name.data() + equals + 1, end, way.count);
  if (!counts || status != std::errc{} || rest != end || way.count < 1) return std::nullopt;
  return way;
}

output_prediction predict_output(const output_machine& on, const simulation& what, const output_way& way) {
  const output_costs& costs = on.costs;
  const processes who = processes_of(on, way);
  const bool served = who.servers > 0;
  const int writers = served ? who.servers : who.clients;
  const double step = what.core_seconds_per_step / who.clients;
  const int outputs = what.steps / what.steps_per_output;
  const double bytes = what.bytes_per_output;

  const stages one{.compute = what.steps_per_output * step,
                   .copy = served ? bytes / (who.clients * costs.copy_bytes_per_s) : 0,
                   .transfer = who.server_nodes > 0
                                   ? bytes / (std::min(who.server_nodes, who.client_nodes) * costs.link_bytes_per_s)
                                   : 0,
                   .write = bytes / storage_rate(costs, writers)};
  const double rest = (what.steps - outputs * what.steps_per_output) * step;
  const double period = served ? one.longest() : one.sum();

  output_prediction made;
  made.write_seconds_per_output = one.write;
  made.stall_seconds_per_output = period - one.compute;
  made.seconds = rest + (outputs > 0 ? one.sum() + (outputs - 1) * period : 0);

  // In core seconds.
  const double all = static_cast<double>(on.nodes) * on.cores * made.seconds;
  const double computing = what.core_seconds_per_step * what.steps;
  const double copies = !served ? 0 : who.server_nodes > 0 ? 3 : 1;  // into memory; to another node two more
  const double copying = copies * outputs * bytes / costs.copy_bytes_per_s;
  const double writing = writers * outputs * one.write;
  const double waiting = std::max(0.0, all - computing - copying - writing);
  const double busy = std::min(
      all, costs.computing_use * computing + copying + costs.writing_use * writing + costs.waiting_use * waiting);
  if (made.seconds > 0) {
    made.cpu_use = busy / all;
    made.watts = on.nodes * costs.idle_node_watts + busy / made.seconds * costs.busy_core_watts;
    made.joules = made.watts * made.seconds;
  }
  return made;
}

std::vector<output_way> ways_of(const output_machine& on) {
  std::vector<output_way> found{{output_approach::time_partitioning, 0}};
  for (int count = 1; count < on.cores; ++count) found.push_back({output_approach::dedicated_cores, count});
  for (int count = 1; count < on.nodes; ++count) found.push_back({output_approach::dedicated_nodes, count});
  return found;
}

double cost_of(const output_prediction& predicted, output_objective objective) {
  switch (objective) {
    case output_objective::energy:
      return predicted.joules;
    case output_objective::edp:
      return predicted.joules * predicted.seconds;
    case output_objective::time:
      break;
  }
  return predicted.seconds;
}

std::vector<output_choice> choose_output(const output_machine& on, const simulation& what,
                                         std::span<const output_way> ways, output_objective objective) {
  std::vector<output_choice> all;
  all.reserve(ways.size());
  for (const output_way& way : ways) all.push_back({way, predict_output(on, what, way)});
  std::ranges::stable_sort(all, {},
                           [objective](const output_choice& one) { return cost_of(one.predicted, objective); });
  return all;
}

std::optional<output_case> case_of(std::span<const output_run> runs, const output_costs& known) {
  if (runs.empty() || !seen_in(runs.front())) return std::nullopt;
  const output_run& run = runs.front();
  output_case found{.machine = {.nodes = run.nodes, .cores = 1, .costs = known}, .what = {}};
  found.machine.cores =
      std::max(1, static_cast<int>(std::lround(static_cast<double>(run.clients + run.servers) / run.nodes)));
  output_costs& costs = found.machine.costs;

  std::vector<seen_rate> rates;
  for (const output_run& one : runs)
    if (const auto seen = seen_in(one)) rates.push_back(*seen);
  learn_storage(rates, costs);
  if (by_servers(run)) costs.writing_use = std::clamp(run.server_cpu_s / run.server_write_s, 0.0, 1.0);

  // The clients' copying into memory was counted as computing.
  const double copying = std::min(run.handed_over_bytes / costs.copy_bytes_per_s, run.compute_s / 2);
  const double computing = run.compute_s - copying;
  const double busy = run.client_cpu_s - copying - costs.writing_use * run.client_write_s;
  costs.computing_use = std::clamp(busy / computing, 0.0, 1.0);
  const int outputs = static_cast<int>(std::lround(run.outputs));
  found.what = {.core_seconds_per_step = computing / outputs,
                .steps = outputs,
                .steps_per_output = 1,
                .bytes_per_output = bytes_of(run) / outputs};
  return found;
}

simulation assumed_on(const output_machine& on) {
  const assumed_simulation assumed;
  // The number of cells for which each core computes for a second per step: only ratios matter.
  const double cells = on.nodes * on.cores / assumed.core_seconds_per_step_and_cell;
  constexpr int outputs = 100;
  return {.core_seconds_per_step = cells * assumed.core_seconds_per_step_and_cell,
          .steps = outputs * assumed.steps_per_output,
          .steps_per_output = assumed.steps_per_output,
          .bytes_per_output = cells * assumed.bytes_per_output_and_cell};
}

}  // namespace lull::model
