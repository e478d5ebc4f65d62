#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "base/topology.hpp"
#include "bindings.hpp"
#include "text.hpp"

namespace lull::python {
namespace {

std::vector<std::vector<int>> core_shares(const std::string& sysroot, const std::vector<int>& cpus, int shares) {
  return shares_of(cores_among(cpus, sysroot), shares);
}

}  // namespace

void bind_core_shares(nanobind::module_& m) {
  m.def("core_shares", core_shares, nanobind::arg("sysroot"), nanobind::arg("cpus"), nanobind::arg("shares"));
}

}  // namespace lull::python
