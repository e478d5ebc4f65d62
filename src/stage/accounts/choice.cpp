#include "stage/accounts/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "base/settings.hpp"
#include "model/machine/machine_file.hpp"

namespace lull::stage {
namespace {

using model::output_approach;
using model::output_way;

approach approach_of(output_approach how) {
  switch (how) {
    case output_approach::dedicated_cores:
      return approach::dedicated_cores;
    case output_approach::dedicated_nodes:
      return approach::dedicated_nodes;
    case output_approach::time_partitioning:
      break;
  }
  return approach::time_partitioning;
}

// As in roles.hpp, each node keeps at least one client.
output_way way_of(const plan& how, const model::output_machine& on) {
  output_way way = model::way_of(name_of(how)).value();
  if (way.how == output_approach::dedicated_cores) way.count = std::min(way.count, on.cores - 1);
  return way.count > 0 ? way : output_way{};
}

model::output_run run_of(const job_figures& all) {
  const client_figures& clients = all.clients;
  const server_figures& servers = all.servers;
  return {.nodes = all.nodes,
          .clients = clients.processes,
          .servers = servers.processes,
          .outputs = clients.outputs(),
          .compute_s = seconds(clients.computing_ns()),
          .client_write_s = seconds(clients.writing_ns),
          .client_cpu_s = seconds(clients.cpu_ns),
          .server_write_s = seconds(servers.writing_ns),
          .server_cpu_s = seconds(servers.cpu_ns),
          .handed_over_bytes = static_cast<double>(clients.handed_over.bytes),
          .wrote_itself_bytes = static_cast<double>(clients.wrote_itself.bytes),
          .dropped_bytes = static_cast<double>(clients.dropped.bytes)};
}

// With "auto" each host has its own file, so the constants may differ between hosts.
model::output_costs known_everywhere() {
  return setting_text("LULL_MACHINE") == "auto" ? model::output_costs{} : model::this_machine().output;
}

const char* saved(model::output_objective objective) {
  switch (objective) {
    case model::output_objective::energy:
      return "less energy";
    case model::output_objective::edp:
      return "less energy times time";
    case model::output_objective::time:
      break;
  }
  return "less time";
}

}  // namespace

plan chosen(const plan& wanted, std::span<const std::string> nodes_by_rank) {
  if (!wanted.by_model) return wanted;
  const auto nodes = static_cast<int>(std::set(nodes_by_rank.begin(), nodes_by_rank.end()).size());
  const auto processes = static_cast<double>(nodes_by_rank.size());
  model::output_machine on{.nodes = nodes,
                           .cores = std::max(1, static_cast<int>(std::lround(processes / nodes))),
                           .costs = known_everywhere()};
  if (wanted.storage_bytes_per_s > 0) {
    const auto limit = static_cast<double>(wanted.storage_bytes_per_s);
    on.costs.storage_bytes_per_s = std::min(on.costs.storage_bytes_per_s, limit);
    if (wanted.storage_writers > 0) on.costs.writers_at_half_speed = wanted.storage_writers;
  }
  const output_way best = choose_output(on, assumed_on(on), ways_of(on), wanted.objective).front().way;
  plan found = wanted;
  found.how = approach_of(best.how);
  found.count = std::max(1, best.count);
  return found;
}

std::string advice_of(const plan& how, const job_figures& run) {
  const auto found = case_of(std::array{run_of(run)}, model::this_machine().output);
  if (!found) return "";
  const auto& [machine, what] = *found;
  const model::output_choice best = choose_output(machine, what, ways_of(machine), how.objective).front();
  const model::output_prediction taken = predict_output(machine, what, way_of(how, machine));
  const double gain = 1 - cost_of(best.predicted, how.objective) / cost_of(taken, how.objective);
  const double took = seconds(run.clients.wall_ns) / run.clients.processes;
  const double missed = std::abs(taken.seconds - took) / took;
  std::string line = gain < machine.costs.least_gain
                         ? std::string("  by the model, no other approach would have been better")
                         : fmt::format("  by the model, {} would have been best: {:.0f} % {}", name_of(best.way),
                                       100 * gain, saved(how.objective));
  if (missed > machine.costs.trusted_share)
    line += fmt::format("; it misses the time of this run by {:.0f} %", 100 * missed);
  return line;
}

// The approach does not change during a run. Each prediction describes the simulation as observed: `predicted` by the
// machine's constants, `corrected` by what the run showed of the machine.
std::vector<model::choice_account> accounts_of(const plan& how, const job_figures& run) {
  constexpr double ns_per_s = 1e9;
  auto all = model::accounts_of(run.clients.turns, run.clients.processes);
  const auto found = case_of(std::array{run_of(run)}, model::this_machine().output);
  if (how.by_model && found) {
    const auto& [seen, what] = *found;
    model::output_machine predicted = seen;
    predicted.costs = model::this_machine().output;
    const auto clients = static_cast<std::uint64_t>(run.clients.processes);
    model::choice_account approach{.choice = "approach", .per = "client", .processes = run.clients.processes};
    for (const output_way& way : ways_of(seen)) {
      model::alternative_account one{.name = name_of(way),
                                     .predicted_ns = ns_per_s * predict_output(predicted, what, way).seconds,
                                     .corrected_ns = ns_per_s * predict_output(seen, what, way).seconds};
      if (way == way_of(how, seen)) {
        one.operations = clients;
        one.observed_ns = static_cast<double>(run.clients.wall_ns) / static_cast<double>(clients);
      }
      approach.alternatives.push_back(one);
    }
    all.push_back(std::move(approach));
  }
  model::close(all);
  return all;
}

}  // namespace lull::stage
