#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "text.hpp"
#include "wait/frequency.hpp"

namespace lull::python {
namespace {

std::pair<std::string, std::string> frequency_way(const std::string& sysroot, const std::vector<int>& cores) {
  const auto tried = wait::core_frequency::make(sysroot, cores);
  return {tried.frequency ? tried.frequency->method() : "", tried.problem};
}

}  // namespace

void bind_frequency(nanobind::module_& m) {
  m.def("frequency_way", frequency_way, nanobind::arg("sysroot"), nanobind::arg("cores"));
}

}  // namespace lull::python
