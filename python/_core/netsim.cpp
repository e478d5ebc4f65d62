#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "columns.hpp"
#include "interpreter_lock.hpp"
#include "netsim/description/description.hpp"
#include "netsim/description/sections.hpp"
#include "netsim/simulation.hpp"
#include "netsim/topology.hpp"
#include "netsim/topology/topology_metrics.hpp"
#include "netsim/traces/trace_program.hpp"
#include "netsim_value.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace lull::python {
namespace {

using netsim::parameters;

// The cables between switches, each once, and the switch of every node: enough to draw a network.
struct cables {
  std::vector<std::uint32_t> from, to, attach_switch;
};

cables cables_of(const netsim::shape& network) {
  cables found;
  for (std::uint32_t s = 0; s < network.switches(); ++s)
    for (unsigned p = 0; p < network.ports(s); ++p) {
      const netsim::endpoint other = network.peer(s, p);
      if (other.node || std::pair(other.id, unsigned{other.port}) < std::pair(s, p)) continue;
      found.from.push_back(s);
      found.to.push_back(other.id);
    }
  for (std::uint32_t n = 0; n < network.nodes(); ++n) found.attach_switch.push_back(network.attach_point(n).id);
  return found;
}

// Called without Python's lock; a signal handler that raises (Ctrl-C) ends the simulation with that exception.
netsim::progress shown_by(const std::optional<nb::callable>& callback) {
  return [&callback](const netsim::state_of_run& s) {
    const locked with_lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!callback) return true;
    return nb::cast<bool>((*callback)(s.now, s.events, s.messages_done, s.messages_expected));
  };
}

using placed_nodes = std::vector<std::vector<std::uint32_t>>;

netsim::result simulate(const netsim::description& described, const placed_nodes& nodes,
                        const std::optional<nb::callable>& progress) {
  const netsim::simulation asked = netsim::placed(described, nodes);
  const netsim::progress shown = shown_by(progress);
  const unlocked without_lock;
  return netsim::simulate(asked, shown);
}

// Converts the trace in advance for later simulations.
void read_trace(const std::string& path, const std::string& iteration, const std::optional<nb::callable>& progress) {
  const auto shown = [&progress](std::uint64_t done, std::uint64_t all) {
    const locked with_lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return !progress || nb::cast<bool>((*progress)(done, all));
  };
  const unlocked without_lock;
  (void)netsim::read_trace(path, iteration, shown);
}

// A static table as a list without copies; its rows live as long as the process.
template <class Row>
nb::list rows_of(std::span<const Row> rows) {
  nb::list all;
  for (const Row& row : rows) all.append(nb::cast(&row, nb::rv_policy::reference));
  return all;
}

// A key with its section, which determines the words for which it applies.
struct key_of_section {
  const netsim::key* of;
  const netsim::section* in;
};

std::vector<key_of_section> keys_in(const netsim::section& s) {
  std::vector<key_of_section> keys;
  for (const netsim::key& k : s.keys) keys.push_back({&k, &s});
  return keys;
}

std::vector<std::string> modes_of(const netsim::power_preset& preset) {
  std::vector<std::string> modes;
  for (const netsim::power_mode& m : netsim::all_power_modes())
    for (const netsim::power_preset& p : m.presets)
      if (&p == &preset) modes.emplace_back(m.name);
  return modes;
}

// Each preset once, in the order of the modes.
nb::list all_power_presets() {
  std::vector<const netsim::power_preset*> found;
  for (const netsim::power_mode& m : netsim::all_power_modes())
    for (const netsim::power_preset& p : m.presets)
      if (std::ranges::find(found, &p) == found.end()) found.push_back(&p);
  nb::list all;
  for (const netsim::power_preset* p : found) all.append(nb::cast(p, nb::rv_policy::reference));
  return all;
}

// How long a link is idle before its power mode acts; 0 if the mode has no such key.
netsim::picoseconds hold_of(const netsim::description& d) {
  const auto hold = d.asked.power.own.find("hold");
  return hold == d.asked.power.own.end() ? 0 : std::get<std::int64_t>(hold->second.is);
}

// A job of a description, before it has nodes.
struct described_job {
  std::string name;
  netsim::placement where;
};

std::vector<described_job> jobs_of(const netsim::description& d) {
  std::vector<described_job> jobs;
  for (std::size_t i = 0; i < d.placements.size(); ++i) jobs.push_back({d.asked.jobs[i].name, d.placements[i]});
  return jobs;
}

void bind_descriptions(nb::module_& m) {
  using netsim::description;
  using netsim::network_choice;
  using netsim::power_preset;
  using netsim::section;
  nb::class_<key_of_section>(m, "SimulationKey", "One key of a simulation's file.")
      .def_prop_ro("name", [](const key_of_section& k) { return k.of->name; })
      .def_prop_ro("meaning", [](const key_of_section& k) { return k.of->meaning; })
      .def_prop_ro("default", [](const key_of_section& k) { return k.of->default_in_words(); })
      .def_prop_ro("allowed", [](const key_of_section& k) { return k.of->allowed_in_words(); })
      .def_prop_ro("when", [](const key_of_section& k) { return netsim::when_in_words(*k.of, k.in->keys); })
      .def_prop_ro("only", [](const key_of_section& k) { return k.of->only; });
  nb::class_<section>(m, "SimulationTable", "One table of a simulation's file.")
      .def_prop_ro("name", [](const section& s) { return s.name; })
      .def_prop_ro("keys", keys_in);
  nb::class_<power_preset>(m, "PowerPreset", "A link technology: the defaults it gives to keys of [power].")
      .def_prop_ro("name", [](const power_preset& p) { return p.name; })
      .def_prop_ro("modes", modes_of)
      .def_prop_ro(
          "values", [](const power_preset& p) { return object_of(p.values); },
          nb::sig("def values(self) -> dict[str, str | float]"))
      .def_ro("must_be_given", &power_preset::must_be_given);
  nb::class_<network_choice>(m, "NetworkChoice", "A topology with all its parameters.")
      .def_ro("name", &network_choice::name)
      .def_ro("preset", &network_choice::preset)
      .def_ro("parameters", &network_choice::parameters);
  nb::class_<described_job>(m, "DescribedJob", "How many processes a job has, and where they run.")
      .def_ro("name", &described_job::name)
      .def_prop_ro("processes", [](const described_job& j) { return j.where.processes; })
      .def_prop_ro("per_node", [](const described_job& j) { return j.where.per_node; })
      .def_prop_ro("mapping", [](const described_job& j) { return j.where.mapping; })
      .def_prop_ro("nodes", [](const described_job& j) { return j.where.nodes; });
  nb::class_<description>(m, "SimulationDescription", "A complete and checked simulation.")
      .def_prop_ro(
          "content", [](const description& d) { return object_of(d.content); },
          nb::sig("def content(self) -> dict[str, Any]"))
      .def_prop_ro("seed", [](const description& d) { return d.asked.seed; })
      .def_prop_ro(
          "end_ps",
          [](const description& d) { return d.asked.end == netsim::never ? std::nullopt : std::optional(d.asked.end); })
      .def_ro("network", &description::network)
      .def_prop_ro("mode", [](const description& d) { return d.asked.power.mode; })
      .def_prop_ro("hold_ps", hold_of)
      .def_prop_ro("cable_delay_ps", [](const description& d) { return d.asked.network.cable_delay; })
      .def_prop_ro("bandwidth", [](const description& d) { return d.asked.network.bandwidth; })
      .def_prop_ro("nic_bandwidth", [](const description& d) { return d.asked.network.nic_bandwidth; })
      .def_prop_ro("input_buffer", [](const description& d) { return d.asked.network.input_buffer; })
      .def_ro("link_watts", &description::link_watts)
      .def_prop_ro("jobs", jobs_of);
  m.def(
      "simulation_tables", [] { return rows_of(netsim::all_sections()); },
      "Every table of a simulation's file, without the parameters of topologies.");
  m.def("nearest", &netsim::nearest, "wrong"_a, "right"_a, "The handle to a name that is not one of those there are.");
  m.def(
      "power_modes",
      [] {
        std::vector<std::string> names;
        for (const netsim::power_mode& mode : netsim::all_power_modes()) names.emplace_back(mode.name);
        return names;
      },
      "The names of all power modes, in the table's order.");
  m.def("power_presets", all_power_presets, "Every link technology that is known by name.");
  m.def(
      "read_simulation",
      [](nb::handle content, const std::string& asked) { return netsim::read_description(value_of(content), asked); },
      "content"_a, "asked"_a, "Check a complete description; `asked` is the start of its error lines.");
  m.def(
      "read_network_choice",
      [](nb::handle content, const std::string& asked) {
        return netsim::read_network_choice(value_of(content), {asked, "topology"});
      },
      "content"_a, "asked"_a, "The network that a [topology] table describes.");
  m.def(
      "check_placement", [](const description& d, const placed_nodes& nodes) { (void)netsim::placed(d, nodes); },
      "description"_a, "nodes"_a, "Whether every job can run on these nodes.");
}

void bind_topologies(nb::module_& m) {
  using netsim::key;
  using netsim::preset_of;
  using netsim::topology_entry;
  using netsim::topology_metrics;
  nb::class_<key>(m, "TopologyParameter", "One parameter of a topology.")
      .def_ro("name", &key::name)
      .def_ro("meaning", &key::meaning)
      .def_prop_ro("default", [](const key& k) { return netsim::numbers_of(k.by_default); })
      .def_prop_ro("allowed", &key::allowed_in_words)
      .def_ro("list", &key::list);
  nb::class_<topology_entry>(m, "Topology", "One topology of the simulator.")
      .def_prop_ro("name", [](const topology_entry& t) { return t.name; })
      .def_prop_ro("meaning", [](const topology_entry& t) { return t.meaning; })
      .def_ro("parameters", &topology_entry::keys)
      .def_ro("small", &topology_entry::small);
  nb::class_<preset_of>(m, "TopologyPreset", "A named set of parameters of a topology.")
      .def_prop_ro("name", [](const preset_of& p) { return p.is->name; })
      .def_prop_ro("topology", [](const preset_of& p) { return p.of->name; })
      .def_prop_ro("meaning", [](const preset_of& p) { return p.is->meaning; })
      .def_prop_ro("parameters", [](const preset_of& p) { return p.is->parameters; });
  nb::class_<topology_metrics>(m, "TopologyMetrics", "The figures of a network.")
      .def_ro("nodes", &topology_metrics::nodes)
      .def_ro("switches", &topology_metrics::switches)
      .def_ro("radix", &topology_metrics::radix)
      .def_ro("node_cables", &topology_metrics::node_cables)
      .def_ro("switch_cables", &topology_metrics::switch_cables)
      .def_ro("diameter", &topology_metrics::diameter)
      .def_ro("mean_links", &topology_metrics::mean_links)
      .def_ro("bisection", &topology_metrics::bisection);
  nb::class_<cables>(m, "TopologyLinks", "The cables of a network.")
      .def_prop_ro("from_switch", column(&cables::from))
      .def_prop_ro("to_switch", column(&cables::to))
      .def_prop_ro("attach_switch", column(&cables::attach_switch));
  m.def(
      "topologies", [] { return rows_of(netsim::all_topologies()); }, "Every topology, in the table's order.");
  m.def("topology_presets", netsim::all_presets, "Every named set of parameters.");
  m.def(
      "topology_nodes",
      [](const std::string& name, const parameters& given) {
        return netsim::build(netsim::find_topology(name), given)->nodes();
      },
      "name"_a, "parameters"_a, "The number of nodes.");
  m.def(
      "topology_metrics",
      [](const std::string& name, const parameters& given) {
        const unlocked without_lock;
        return netsim::metrics_of(*netsim::build(netsim::find_topology(name), given));
      },
      "name"_a, "parameters"_a, "Counts, diameter, mean links, bisection.");
  m.def(
      "topology_links",
      [](const std::string& name, const parameters& given) {
        return cables_of(*netsim::build(netsim::find_topology(name), given));
      },
      "name"_a, "parameters"_a, "The cables between switches, and the switch of each node.");
}

}  // namespace

void bind_netsim(nb::module_& m) {
  bind_topologies(m);
  bind_descriptions(m);
  bind_simulated(m);
  m.def("read_trace", read_trace, "path"_a, "iteration"_a = "", "progress"_a = nb::none(),
        "Convert a trace, so that simulations find it converted; releases Python's lock.");
  m.def("simulate", simulate, "description"_a, "nodes"_a, "progress"_a = nb::none(),
        "Run one simulation with its processes on these nodes; releases Python's lock.");
}

}  // namespace lull::python
