// The parts of the extension, one per room. python/lull/_core.pyi has the interface with its documentation.
#pragma once
#include <nanobind/nanobind.h>

namespace lull::python {

void bind_settings(nanobind::module_& m);
void bind_meter(nanobind::module_& m);
void bind_account(nanobind::module_& m);
void bind_core_shares(nanobind::module_& m);
void bind_frequency(nanobind::module_& m);
void bind_netsim(nanobind::module_& m);
void bind_simulated(nanobind::module_& m);
void bind_goal(nanobind::module_& m);
void bind_model(nanobind::module_& m);
void bind_output(nanobind::module_& m);
void bind_trace(nanobind::module_& m);

}  // namespace lull::python
