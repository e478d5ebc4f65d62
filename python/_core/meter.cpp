#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "bindings.hpp"
#include "interpreter_lock.hpp"
#include "meter/calibration.hpp"
#include "meter/choice.hpp"
#include "meter/sampler.hpp"
#include "meter/totals.hpp"
#include "named.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace lull::python {
namespace {

// A channel with its source; sources and samplers return channels alone.
struct owned_channel {
  meter::channel channel;
  std::string source;
};

struct source_found {
  meter::source_description description;
  bool used;
  std::string reason;
};

// Names are "source:what" and unique on the node by contract.
std::vector<owned_channel> with_owner(std::span<const meter::channel> channels) {
  std::vector<owned_channel> result;
  for (const meter::channel& c : channels) result.push_back({c, c.name.substr(0, c.name.find(':'))});
  return result;
}

std::vector<source_found> sources(const std::string& root) {
  std::vector<source_found> result;
  for (const meter::found_source& f : meter::find_sources(meter::sysroot(root)))
    result.push_back({f.source->description(), f.used, f.reason});
  return result;
}

using text_label = std::tuple<std::string, std::string, std::string, double, double>;

std::vector<std::size_t> counted(const std::vector<text_label>& channels) {
  std::vector<meter::channel_label> labels;
  labels.reserve(channels.size());
  for (const auto& [name, covers, kind, low_j, high_j] : channels)
    labels.push_back({.name = name,
                      .covers = named(covers, meter::domain::wire),
                      .kind = named(kind, meter::kind::simulated),
                      .joules = meter::joules_between{low_j, high_j}});
  return meter::counted(labels);
}

void bind_sources(nb::module_& m) {
  nb::class_<owned_channel>(m, "Channel", "One stream of energy readings.")
      .def_prop_ro("name", [](const owned_channel& c) { return c.channel.name; })
      .def_ro("source", &owned_channel::source)
      .def_prop_ro("domain", [](const owned_channel& c) { return name_of(c.channel.covers); })
      .def_prop_ro("kind", [](const owned_channel& c) { return name_of(c.channel.kind); })
      .def_prop_ro("interval_s", [](const owned_channel& c) { return c.channel.interval.value(); })
      .def_prop_ro("basis", [](const owned_channel& c) { return c.channel.basis; });
  nb::class_<source_found>(m, "Source", "One energy source of this machine, readable or not.")
      .def_prop_ro("name", [](const source_found& s) { return s.description.name; })
      .def_prop_ro("kind", [](const source_found& s) { return name_of(s.description.kind); })
      .def_prop_ro("unit", [](const source_found& s) { return s.description.unit; })
      .def_prop_ro("interval_s", [](const source_found& s) { return s.description.interval.value(); })
      .def_prop_ro("range", [](const source_found& s) { return s.description.range; })
      .def_prop_ro("permission", [](const source_found& s) { return s.description.permission; })
      .def_prop_ro("readable", [](const source_found& s) { return s.description.state.readable; })
      .def_ro("used", &source_found::used)
      .def_ro("reason", &source_found::reason)
      .def_prop_ro("fix", [](const source_found& s) { return s.description.state.fix; })
      .def_prop_ro("left_out", [](const source_found& s) { return s.description.left_out; })
      .def_prop_ro("channels", [](const source_found& s) { return with_owner(s.description.channels); });
  m.def("sources", sources, "sysroot"_a = "/",
        "All energy sources that Lull supports, in order of preference, as found below `sysroot`.");
  m.def("counted", counted, "channels"_a,
        "Positions of the channels of one node, given as (name, domain, kind, low_j, high_j), that make up its total.");
  m.def(
      "calibration_toml",
      [](std::pair<double, double> idle, std::pair<double, double> full, const std::string& meter,
         const std::string& when) {
        return as_toml(meter::fit({idle.first, idle.second}, {full.first, full.second}, meter, when));
      },
      "idle"_a, "full"_a, "meter"_a, "when"_a,
      "The table [calibration] of a site file: the line through two points (utilisation 0 to 1, watts) of `meter`.");
}

void bind_samples(nb::module_& m) {
  using meter::channel_total;
  using meter::series;
  nb::class_<channel_total>(m, "ChannelTotal", "The counts of one channel between start() and stop().")
      .def_ro("joules", &channel_total::joules)
      .def_ro("low_j", &channel_total::low_j)
      .def_ro("high_j", &channel_total::high_j)
      .def_ro("bytes", &channel_total::bytes)
      .def_ro("wraps", &channel_total::wraps)
      .def_ro("gaps", &channel_total::gaps)
      .def_ro("resets", &channel_total::resets)
      .def_ro("stale", &channel_total::stale)
      .def_ro("lower_bound", &channel_total::lower_bound);

  // The arrays are views of the series, which they keep alive.
  nb::class_<series>(m, "Samples", "The samples of a sampler.")
      .def_prop_ro("time_ns",
                   [](nb::handle self) {
                     auto& s = nb::cast<series&>(self);
                     return nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(s.time_ns.data(), {s.time_ns.size()},
                                                                              self);
                   })
      .def_prop_ro("joules",
                   [](nb::handle self) {
                     auto& s = nb::cast<series&>(self);
                     return nb::ndarray<nb::numpy, double, nb::ndim<2>>(s.joules.data(),
                                                                        {s.time_ns.size(), s.totals.size()}, self);
                   })
      .def_ro("totals", &series::totals)
      .def_ro("complaints", &series::complaints);
}

}  // namespace

void bind_meter(nb::module_& m) {
  bind_sources(m);
  bind_samples(m);
  using meter::sampler;
  nb::class_<sampler>(m, "Sampler", "Reads the meter at a fixed rate in a separate thread, without Python's lock.")
      .def(
          "__init__",
          [](sampler* self, const std::string& sysroot, double hz, const std::vector<std::string>& sources) {
            new (self) sampler(meter::sysroot(sysroot), hz, sources);
          },
          "sysroot"_a = "/", "hz"_a = 10.0, "sources"_a = nb::tuple())
      .def_prop_ro("channels", [](const sampler& s) { return with_owner(s.channels()); })
      .def_prop_ro("not_read", &sampler::not_read)
      .def("start", &sampler::start, nb::call_guard<unlocked>(),
           "Begin a new series; the first sample is taken before it returns.")
      .def("stop", &sampler::stop, nb::call_guard<unlocked>(),
           "Take the last sample, end the thread and return the series. A sampler can be started again.")
      .def(
          "latest",
          [](const sampler& s) {
            meter::latest_sample newest = s.latest();
            return std::tuple(newest.time_ns, std::move(newest.joules), std::move(newest.bytes),
                              std::move(newest.is_gap));
          },
          "(time_ns; per channel joules and bytes since start(), and whether it could not be read) of the newest "
          "sample, "
          "while it runs.");
}

}  // namespace lull::python
