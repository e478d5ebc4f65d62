#include <nanobind/nanobind.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "bindings.hpp"
#include "interpreter_lock.hpp"
#include "text.hpp"

namespace {

// The message of an error may contain a path that is not UTF-8.
template <class Error>
void pass_on(const std::exception_ptr& thrown, void* type) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& problem) {
    if (PyObject* const text = lull::python::text_for_python(problem.what())) {
      PyErr_SetObject(static_cast<PyObject*>(type), text);
      Py_DECREF(text);
    }
  }
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The native part of Lull: the settings table, the energy meter, the network simulator, the model, traces.";
  const nanobind::exception<lull::error> core_error(m, "CoreError");
  const nanobind::exception<lull::usage_error> core_usage_error(m, "CoreUsageError", core_error);
  // The translator registered last is tried first.
  nanobind::register_exception_translator(pass_on<lull::error>, core_error.ptr());
  nanobind::register_exception_translator(pass_on<lull::usage_error>, core_usage_error.ptr());
  m.def("now_ns", lull::now_ns, "CLOCK_MONOTONIC in nanoseconds: the clock of samples and regions.");
  lull::python::notice_the_end();
  lull::python::bind_settings(m);
  lull::python::bind_meter(m);
  lull::python::bind_account(m);
  lull::python::bind_core_shares(m);
  lull::python::bind_frequency(m);
  lull::python::bind_netsim(m);
  lull::python::bind_goal(m);
  lull::python::bind_model(m);
  lull::python::bind_output(m);
  lull::python::bind_trace(m);
}
