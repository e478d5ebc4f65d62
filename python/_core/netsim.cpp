#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "netsim/figures.hpp"
#include "netsim/simulation.hpp"
#include "netsim/statistics.hpp"
#include "netsim/topology.hpp"
#include "netsim_description.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace lull::python {
namespace {

using netsim::parameters;

// One array per quantity instead of one record per link: what numpy can show without copying.
struct link_columns {
  std::vector<std::uint32_t> from, to;
  std::vector<std::uint8_t> kind;  // 0 injection, 1 ejection, 2 network
  std::vector<std::uint64_t> packets, bytes, wakes;
  std::vector<std::int64_t> deep_sleep, fast_wake, slow, busy;  // picoseconds
};

link_columns columns_of(const std::vector<netsim::link_result>& links) {
  link_columns c;
  for (const netsim::link_result& l : links) {
    c.from.push_back(l.from);
    c.to.push_back(l.to);
    c.kind.push_back(static_cast<std::uint8_t>(l.kind));
    c.packets.push_back(l.packets);
    c.bytes.push_back(l.bytes);
    c.wakes.push_back(l.wakes);
    c.deep_sleep.push_back(l.deep_sleep);
    c.fast_wake.push_back(l.fast_wake);
    c.slow.push_back(l.slow);
    c.busy.push_back(l.busy);
  }
  return c;
}

// The cables between switches, each once, and the switch of every node: enough to draw a network.
struct cables {
  std::vector<std::uint32_t> from, to, home;
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
  for (std::uint32_t n = 0; n < network.nodes(); ++n) found.home.push_back(network.home(n).id);
  return found;
}

// A view of `values`, which `owner` holds and the view keeps alive.
template <class T>
nb::ndarray<nb::numpy, const T, nb::ndim<1>> view(const std::vector<T>& values, nb::handle owner) {
  return {values.data(), {values.size()}, owner};
}

template <class Owner, class T>
auto column(std::vector<T> Owner::*member) {
  return [member](nb::handle self) { return view(nb::cast<const Owner&>(self).*member, self); };
}

// Called without Python's lock; a signal that raises (Ctrl-C) ends the simulation with that exception.
netsim::progress shown_by(const std::optional<nb::callable>& callback) {
  return [&callback](const netsim::state_of_run& s) {
    const nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!callback) return true;
    return nb::cast<bool>((*callback)(s.now, s.events, s.messages_done, s.messages_expected));
  };
}

netsim::result simulate(const std::string& description, const std::optional<nb::callable>& progress) {
  const netsim::simulation asked = read_simulation(description);
  const netsim::progress shown = shown_by(progress);
  const nb::gil_scoped_release unlocked;
  return netsim::simulate(asked, shown);
}

void bind_topologies(nb::module_& m) {
  using netsim::figures;
  using netsim::parameter;
  using netsim::preset;
  using netsim::topology_entry;
  nb::class_<parameter>(m, "TopologyParameter", "One parameter of a topology.")
      .def_prop_ro("name", [](const parameter& p) { return p.name; })
      .def_prop_ro("meaning", [](const parameter& p) { return p.meaning; })
      .def_ro("default", &parameter::default_value)
      .def_ro("list", &parameter::list);
  nb::class_<topology_entry>(m, "Topology", "One topology the simulator knows.")
      .def_prop_ro("name", [](const topology_entry& t) { return t.name; })
      .def_prop_ro("meaning", [](const topology_entry& t) { return t.meaning; })
      .def_ro("parameters", &topology_entry::parameters);
  nb::class_<preset>(m, "TopologyPreset", "A named set of parameters of a topology.")
      .def_prop_ro("name", [](const preset& p) { return p.name; })
      .def_prop_ro("topology", [](const preset& p) { return p.topology; })
      .def_prop_ro("meaning", [](const preset& p) { return p.meaning; })
      .def_ro("parameters", &preset::parameters);
  nb::class_<figures>(m, "TopologyFigures", "What a network is, in numbers.")
      .def_ro("nodes", &figures::nodes)
      .def_ro("switches", &figures::switches)
      .def_ro("radix", &figures::radix)
      .def_ro("node_cables", &figures::node_cables)
      .def_ro("switch_cables", &figures::switch_cables)
      .def_ro("diameter", &figures::diameter)
      .def_ro("mean_links", &figures::mean_links)
      .def_ro("bisection", &figures::bisection);
  nb::class_<cables>(m, "TopologyLinks", "The cables of a network.")
      .def_prop_ro("from_switch", column(&cables::from))
      .def_prop_ro("to_switch", column(&cables::to))
      .def_prop_ro("home", column(&cables::home));
  // Both tables are static: nothing is copied, and what Python holds lives as long as the process.
  m.def(
      "topologies",
      [] {
        nb::list rows;
        for (const topology_entry& t : netsim::all_topologies()) rows.append(nb::cast(&t, nb::rv_policy::reference));
        return rows;
      },
      "Every topology, in the table's order.");
  m.def(
      "topology_presets",
      [] {
        nb::list rows;
        for (const preset& p : netsim::all_presets()) rows.append(nb::cast(&p, nb::rv_policy::reference));
        return rows;
      },
      "Every named set of parameters.");
  m.def(
      "topology_nodes",
      [](const std::string& name, const parameters& given) {
        return netsim::find_topology(name).build(given)->nodes();
      },
      "name"_a, "parameters"_a, "The number of nodes.");
  m.def(
      "topology_figures",
      [](const std::string& name, const parameters& given) {
        const nb::gil_scoped_release unlocked;
        return netsim::figures_of(*netsim::find_topology(name).build(given));
      },
      "name"_a, "parameters"_a, "Counts, diameter, mean links, bisection.");
  m.def(
      "topology_links",
      [](const std::string& name, const parameters& given) {
        return cables_of(*netsim::find_topology(name).build(given));
      },
      "name"_a, "parameters"_a, "The cables between switches, and the switch of each node.");
}

void bind_results(nb::module_& m) {
  using netsim::histogram;
  using netsim::job_result;
  using netsim::result;
  nb::class_<link_columns>(m, "SimulatedLinks", "What happened on every link, one array per quantity.")
      .def_prop_ro("from_end", column(&link_columns::from))
      .def_prop_ro("to_end", column(&link_columns::to))
      .def_prop_ro("kind", column(&link_columns::kind))
      .def_prop_ro("packets", column(&link_columns::packets))
      .def_prop_ro("bytes", column(&link_columns::bytes))
      .def_prop_ro("wakes", column(&link_columns::wakes))
      .def_prop_ro("deep_sleep_ps", column(&link_columns::deep_sleep))
      .def_prop_ro("fast_wake_ps", column(&link_columns::fast_wake))
      .def_prop_ro("slow_ps", column(&link_columns::slow))
      .def_prop_ro("busy_ps", column(&link_columns::busy));
  nb::class_<histogram>(m, "LatencyHistogram", "Latencies counted in bins.")
      .def_prop_ro("counts", column(&histogram::counts))
      .def_prop_ro("lower_edges_ps",
                   [](const histogram& h) {
                     std::vector<std::int64_t> edges;
                     for (std::size_t b = 0; b <= h.counts.size(); ++b) edges.push_back(netsim::lower_edge(b));
                     return edges;
                   })
      .def_ro("count", &histogram::count)
      .def_ro("sum_ps", &histogram::sum)
      .def_prop_ro("least_ps", [](const histogram& h) { return h.count == 0 ? 0 : h.least; })
      .def_ro("most_ps", &histogram::most)
      .def_prop_ro("batch_means_ps", column(&histogram::batch_means));
  nb::class_<job_result>(m, "SimulatedJob", "What became of one job.")
      .def_ro("name", &job_result::name)
      .def_ro("started_ps", &job_result::started)
      .def_ro("ended_ps", &job_result::ended)
      .def_ro("messages", &job_result::messages)
      .def_ro("bytes", &job_result::bytes)
      .def_prop_ro(
          "message_latency", [](const job_result& j) -> const histogram& { return j.message_latency; },
          nb::rv_policy::reference_internal)
      .def_prop_ro("iteration_ends_ps", column(&job_result::iteration_ends));
  nb::class_<result>(m, "Simulated", "What a simulation answers.")
      .def_ro("ended_ps", &result::ended)
      .def_ro("events", &result::events)
      .def_ro("packets", &result::packets)
      .def_ro("packet_links", &result::packet_links)
      .def_ro("packets_injected", &result::packets_injected)
      .def_ro("bytes_injected", &result::bytes_injected)
      .def_ro("bytes_delivered", &result::bytes_delivered)
      .def_ro("messages_created", &result::messages_created)
      .def_ro("messages_delivered", &result::messages_delivered)
      .def_ro("loop_cpu_s", &result::loop_cpu_s)
      .def_ro("setup_cpu_s", &result::setup_cpu_s)
      .def_ro("stopped", &result::stopped)
      .def_ro("virtual_channels", &result::virtual_channels)
      .def_ro("fifo", &result::fifo)
      .def_ro("why_not_fifo", &result::why_not_fifo)
      .def_ro("window_ps", &result::window)
      .def_prop_ro(
          "packet_latency", [](const result& r) -> const histogram& { return r.packet_latency; },
          nb::rv_policy::reference_internal)
      .def_prop_ro(
          "network_latency", [](const result& r) -> const histogram& { return r.network_latency; },
          nb::rv_policy::reference_internal)
      .def_prop_ro("hops", column(&result::hops))
      .def_prop_ro("jobs",
                   [](nb::handle self) {
                     nb::list jobs;
                     for (const job_result& j : nb::cast<const result&>(self).jobs)
                       jobs.append(nb::cast(&j, nb::rv_policy::reference_internal, self));
                     return jobs;
                   })
      .def_prop_ro("links", [](const result& r) { return columns_of(r.links); });
}

}  // namespace

void bind_netsim(nb::module_& m) {
  bind_topologies(m);
  bind_results(m);
  m.def("simulate", simulate, "description"_a, "progress"_a = nb::none(),
        "Run one simulation, described as JSON; Python's lock is released meanwhile.");
}

}  // namespace lull::python
