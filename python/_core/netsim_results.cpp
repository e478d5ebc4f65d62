// The results of a simulation: jobs, latencies, links and power, as numpy arrays where there are many.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "columns.hpp"
#include "netsim/network/statistics.hpp"
#include "netsim/simulation.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace lull::python {
namespace {

// One array per quantity rather than one record per link, so that numpy can access it without copying.
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

std::map<std::string, double> shares_of(const netsim::link_policy& p) {
  return {{"deep sleep", p.deep_share}, {"fast wake", p.fast_share}, {"slow rate", p.slow_share}};
}

// Per kind of links, as in link_columns: picoseconds in deep sleep and in fast wake, and wake-ups.
std::vector<std::tuple<double, double, std::uint64_t>> sums_of(
    const std::array<netsim::rest_of_links, netsim::link_kinds>& group) {
  std::vector<std::tuple<double, double, std::uint64_t>> sums;
  sums.reserve(group.size());
  for (const netsim::rest_of_links& r : group)
    sums.emplace_back(static_cast<double>(r.deep), static_cast<double>(r.fast), r.wakes);
  return sums;
}

}  // namespace

void bind_simulated(nb::module_& m) {
  using netsim::histogram;
  using netsim::job_result;
  using netsim::process_time;
  using netsim::result;
  nb::class_<link_columns>(m, "SimulatedLinks", "The counts of every link, one array per quantity.")
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
      .def_prop_ro("batch_means_ps", column(&histogram::batch_means))
      .def_prop_ro("batch_counts", column(&histogram::batch_counts));
  nb::class_<process_time>(m, "ProcessTime", "How the processes of a program spent their time, summed over them.")
      .def_ro("computing_ps", &process_time::computing)
      .def_ro("sending_ps", &process_time::sending)
      .def_ro("waiting_ps", &process_time::waiting);
  using netsim::job_estimate;
  nb::class_<job_estimate>(m, "SampledJob", "A whole run of a job, estimated from a sample of its units.")
      .def_ro("run_time_ps", &job_estimate::run_time)
      .def_ro("computing_ps", &job_estimate::computing)
      .def_ro("sending_ps", &job_estimate::sending)
      .def_prop_ro("units", [](const job_estimate& j) {
        std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, double, double>> units;
        units.reserve(j.units.size());
        for (const netsim::unit_estimate& u : j.units)
          units.emplace_back(u.kind, u.count, u.measured, u.mean, u.deviation);
        return units;
      });
  using netsim::critical_path;
  nb::class_<critical_path>(m, "CriticalPath", "What the longest path of a program consists of.")
      .def_ro("computing_ps", &critical_path::computing)
      .def_ro("sending_ps", &critical_path::sending)
      .def_ro("latency_ps", &critical_path::latency)
      .def_ro("queueing_ps", &critical_path::queueing)
      .def_ro("memory_ps", &critical_path::memory)
      .def_ro("messages", &critical_path::messages)
      .def_ro("memory_messages", &critical_path::memory_messages)
      .def_ro("switch_cables", &critical_path::switch_cables);
  using netsim::job_tolerance;
  nb::class_<job_tolerance>(m, "JobTolerance", "How much longer messages may take until a program is so much slower.")
      .def_ro("slowdown", &job_tolerance::slowdown)
      .def_ro("run_time_ps", &job_tolerance::run_time)
      .def_ro("steps", &job_tolerance::steps)
      .def_ro("path", &job_tolerance::path)
      .def_ro("bandwidth", &job_tolerance::bandwidth)
      .def_prop_ro("delays",
                   [](const job_tolerance& t) {
                     nb::list delays;
                     for (const netsim::tolerated_delay& d : t.delays) {
                       nb::list run_times;
                       for (const auto& [size, time] : d.run_times) run_times.append(nb::make_tuple(size, time));
                       delays.append(nb::make_tuple(d.of, d.growth, d.most, run_times));
                     }
                     return delays;
                   })
      .def_prop_ro("sleeps", [](const job_tolerance& t) {
        std::vector<std::tuple<double, double, std::int64_t, double, double>> sleeps;
        sleeps.reserve(t.sleeps.size());
        for (const netsim::tolerated_sleep& s : t.sleeps)
          sleeps.emplace_back(s.slowdown, s.saved, s.shortest_hold, s.shortest_slowdown, s.shortest_saved);
        return sleeps;
      });
  nb::class_<job_result>(m, "SimulatedJob", "The result of one job.")
      .def_ro("name", &job_result::name)
      .def_ro("started_ps", &job_result::started)
      .def_ro("ended_ps", &job_result::ended)
      .def_ro("messages", &job_result::messages)
      .def_ro("bytes", &job_result::bytes)
      .def_prop_ro(
          "message_latency", [](const job_result& j) -> const histogram& { return j.message_latency; },
          nb::rv_policy::reference_internal)
      .def_prop_ro("iteration_ends_ps", column(&job_result::iteration_ends))
      .def_prop_ro("run_ends_ps", column(&job_result::run_ends))
      .def_ro("sampled", &job_result::sampled)
      .def_ro("tolerance", &job_result::tolerance)
      .def_prop_ro("time", [](const job_result& j) { return j.time; })
      .def_ro("memory_messages", &job_result::memory_messages)
      .def_ro("memory_bytes", &job_result::memory_bytes)
      .def_ro("remarks", &job_result::remarks);
  using netsim::saving;
  nb::class_<saving>(m, "SimulatedSaving", "What a power mode would have saved if its wake-ups delayed no packet.")
      .def_prop_ro("used", [](const saving& s) { return sums_of(s.rest.used); })
      .def_prop_ro("unused", [](const saving& s) { return sums_of(s.rest.unused); })
      .def_prop_ro("shares", [](const saving& s) { return shares_of(s.policy); });
  using netsim::whole_run;
  nb::class_<whole_run>(m, "SampledRun", "The whole of a sampled simulation.")
      .def_ro("time_ps", &whole_run::time)
      .def_ro("packet_hops", &whole_run::packet_hops)
      .def_prop_ro("used", [](const whole_run& w) { return sums_of(w.rest.used); })
      .def_prop_ro("unused", [](const whole_run& w) { return sums_of(w.rest.unused); });
  nb::class_<result>(m, "Simulated", "The result of a simulation.")
      .def_ro("ended_ps", &result::ended)
      .def_ro("events", &result::events)
      .def_ro("packets", &result::packets)
      .def_ro("packet_hops", &result::packet_hops)
      .def_ro("packets_injected", &result::packets_injected)
      .def_ro("bytes_injected", &result::bytes_injected)
      .def_ro("bytes_delivered", &result::bytes_delivered)
      .def_ro("messages_created", &result::messages_created)
      .def_ro("messages_delivered", &result::messages_delivered)
      .def_ro("loop_cpu_s", &result::loop_cpu_s)
      .def_ro("loop_wall_s", &result::loop_wall_s)
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
      .def_prop_ro("links", [](const result& r) { return columns_of(r.links); })
      .def_prop_ro("savings",
                   [](nb::handle self) {
                     nb::list savings;
                     for (const saving& s : nb::cast<const result&>(self).savings)
                       savings.append(nb::cast(&s, nb::rv_policy::reference_internal, self));
                     return savings;
                   })
      .def_ro("sampled", &result::sampled)
      .def_prop_ro("shares", [](const result& r) { return shares_of(r.policy); });
}

}  // namespace lull::python
