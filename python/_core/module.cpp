#include <nanobind/nanobind.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "bindings.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The native part of Lull: the settings table, the energy meter, the network simulator, the model, traces.";
  const nanobind::exception<lull::error> core_error(m, "CoreError");
  // Registered after its base, so that it is tried before it.
  const nanobind::exception<lull::usage_error> core_usage_error(m, "CoreUsageError", core_error);
  m.def("now_ns", lull::now_ns, "CLOCK_MONOTONIC in nanoseconds: the clock of samples and regions.");
  lull::python::bind_settings(m);
  lull::python::bind_meter(m);
  lull::python::bind_frequency(m);
  lull::python::bind_netsim(m);
  lull::python::bind_model(m);
  lull::python::bind_output(m);
  lull::python::bind_trace(m);
}
