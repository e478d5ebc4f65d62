// Values of a simulation's file as Python objects, and back.
#pragma once
#include <nanobind/nanobind.h>

#include "netsim/keys/value.hpp"

namespace lull::python {

// None, bool, int, float, str, list or tuple, mapping; any other object becomes its text, which no key allows.
[[nodiscard]] netsim::value value_of(nanobind::handle object);
[[nodiscard]] nanobind::object object_of(const netsim::value& v);

}  // namespace lull::python
