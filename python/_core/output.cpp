#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "bindings.hpp"
#include "model/costs/output.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace lull::python {
namespace {

using namespace lull::model;

output_objective objective_named(const std::string& name) {
  if (name == "time") return output_objective::time;
  if (name == "energy") return output_objective::energy;
  if (name == "edp") return output_objective::edp;
  throw usage_error("choose how to write the output", "'" + name + "' is not an objective",
                    "choose time, energy or edp");
}

// Accesses a cost like a field of the machine.
template <double output_costs::*cost>
double get(const output_machine& on) {
  return on.costs.*cost;
}
template <double output_costs::*cost>
void set(output_machine& on, double value) {
  on.costs.*cost = value;
}

std::vector<std::string> names_of_ways(const output_machine& on) {
  std::vector<std::string> names;
  for (const output_way& way : ways_of(on)) names.push_back(name_of(way));
  return names;
}

std::vector<output_choice> choose(const output_machine& on, const simulation& what,
                                  const std::vector<std::string>& names, const std::string& objective) {
  const std::vector<output_way> possible = ways_of(on);
  std::vector<output_way> ways;
  for (const std::string& name : names) {
    const std::optional<output_way> way = way_of(name);
    if (!way || std::ranges::find(possible, *way) == possible.end())
      throw usage_error("predict the output by " + name,
                        "it is not an approach, or leaves no process of " + std::to_string(on.nodes) + " x " +
                            std::to_string(on.cores) + " to compute",
                        "choose one of " + name_of(possible.front()) + " to " + name_of(possible.back()));
    ways.push_back(*way);
  }
  return choose_output(on, what, ways, objective_named(objective));
}

}  // namespace

void bind_output(nb::module_& m) {
  nb::class_<output_machine>(m, "OutputMachine", "A machine, as far as the output of a simulation depends on it.")
      .def(nb::init<>())
      .def_rw("nodes", &output_machine::nodes)
      .def_rw("cores", &output_machine::cores)
      .def_prop_rw("storage_bytes_per_s", get<&output_costs::storage_bytes_per_s>,
                   set<&output_costs::storage_bytes_per_s>)
      .def_prop_rw("writer_bytes_per_s", get<&output_costs::writer_bytes_per_s>, set<&output_costs::writer_bytes_per_s>)
      .def_prop_rw("writers_at_half_speed", get<&output_costs::writers_at_half_speed>,
                   set<&output_costs::writers_at_half_speed>)
      .def_prop_rw("link_bytes_per_s", get<&output_costs::link_bytes_per_s>, set<&output_costs::link_bytes_per_s>)
      .def_prop_rw("copy_bytes_per_s", get<&output_costs::copy_bytes_per_s>, set<&output_costs::copy_bytes_per_s>)
      .def_prop_rw("computing_use", get<&output_costs::computing_use>, set<&output_costs::computing_use>)
      .def_prop_rw("writing_use", get<&output_costs::writing_use>, set<&output_costs::writing_use>)
      .def_prop_rw("waiting_use", get<&output_costs::waiting_use>, set<&output_costs::waiting_use>)
      .def_prop_rw("idle_node_watts", get<&output_costs::idle_node_watts>, set<&output_costs::idle_node_watts>)
      .def_prop_rw("busy_core_watts", get<&output_costs::busy_core_watts>, set<&output_costs::busy_core_watts>)
      .def_prop_ro("least_gain", [](const output_machine& on) { return on.costs.least_gain; });
  nb::class_<simulation>(m, "OutputSimulation", "A simulation that writes output.")
      .def(nb::init<>())
      .def_rw("core_seconds_per_step", &simulation::core_seconds_per_step)
      .def_rw("steps", &simulation::steps)
      .def_rw("steps_per_output", &simulation::steps_per_output)
      .def_rw("bytes_per_output", &simulation::bytes_per_output);
  nb::class_<output_run>(m, "OutputRun", "The measured cost of a run's output.")
      .def(nb::init<>())
      .def_rw("nodes", &output_run::nodes)
      .def_rw("clients", &output_run::clients)
      .def_rw("servers", &output_run::servers)
      .def_rw("outputs", &output_run::outputs)
      .def_rw("compute_s", &output_run::compute_s)
      .def_rw("client_write_s", &output_run::client_write_s)
      .def_rw("client_cpu_s", &output_run::client_cpu_s)
      .def_rw("server_write_s", &output_run::server_write_s)
      .def_rw("server_cpu_s", &output_run::server_cpu_s)
      .def_rw("handed_over_bytes", &output_run::handed_over_bytes)
      .def_rw("wrote_itself_bytes", &output_run::wrote_itself_bytes)
      .def_rw("dropped_bytes", &output_run::dropped_bytes);
  nb::class_<output_choice>(m, "OutputChoice", "The model's prediction for one method of writing the output.")
      .def_prop_ro("way", [](const output_choice& one) { return name_of(one.way); })
      .def_prop_ro("seconds", [](const output_choice& one) { return one.predicted.seconds; })
      .def_prop_ro("cpu_use", [](const output_choice& one) { return one.predicted.cpu_use; })
      .def_prop_ro("watts", [](const output_choice& one) { return one.predicted.watts; })
      .def_prop_ro("joules", [](const output_choice& one) { return one.predicted.joules; })
      .def_prop_ro("stall_seconds_per_output",
                   [](const output_choice& one) { return one.predicted.stall_seconds_per_output; })
      .def_prop_ro("write_seconds_per_output",
                   [](const output_choice& one) { return one.predicted.write_seconds_per_output; })
      .def(
          "cost",
          [](const output_choice& one, const std::string& objective) {
            return cost_of(one.predicted, objective_named(objective));
          },
          "objective"_a);
  m.def("output_ways", names_of_ways, "machine"_a);
  m.def("choose_output", choose, "machine"_a, "simulation"_a, "ways"_a, "objective"_a = "time");
  m.def(
      "output_case_of",
      [](const std::vector<output_run>& runs) -> std::optional<std::pair<output_machine, simulation>> {
        const std::optional<output_case> found = case_of(runs);
        if (!found) return std::nullopt;
        return std::pair(found->machine, found->what);
      },
      "runs"_a);
  m.def("assumed_simulation", assumed_on, "machine"_a);
}

}  // namespace lull::python
