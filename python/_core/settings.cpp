#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "bindings.hpp"
#include "text.hpp"

namespace nb = nanobind;

namespace lull::python {
namespace {

// A row of the table with its current value, valid or not.
struct setting_in_force {
  setting row;
  std::string value;
  bool from_environment;
  std::string problem;
};

const char* name_of(setting_type type) {
  switch (type) {
    case setting_type::text:
      return "text";
    case setting_type::choice:
      return "choice";
    case setting_type::integer:
      return "integer";
    case setting_type::real:
      return "real";
    case setting_type::size:
      return "size";
  }
  return "";
}

std::string problem_with(const setting& row) {
  try {
    check_setting(row);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

std::vector<setting_in_force> settings() {
  std::vector<setting_in_force> result;
  for (const setting& row : all_settings()) {
    const char* const text = given(row);
    result.push_back({row, text ? text : row.default_value, text != nullptr, problem_with(row)});
  }
  return result;
}

}  // namespace

void bind_settings(nb::module_& m) {
  nb::class_<setting_in_force>(m, "Setting", "One row of the settings table.")
      .def_prop_ro("variable", [](const setting_in_force& s) { return s.row.variable; })
      .def_prop_ro("type", [](const setting_in_force& s) { return name_of(s.row.type); })
      .def_prop_ro("default", [](const setting_in_force& s) { return s.row.default_value; })
      .def_prop_ro("choices", [](const setting_in_force& s) { return s.row.choices; })
      .def_prop_ro("meaning", [](const setting_in_force& s) { return s.row.meaning; })
      .def_ro("value", &setting_in_force::value)
      .def_prop_ro("origin", [](const setting_in_force& s) { return s.from_environment ? "environment" : "default"; })
      .def_ro("problem", &setting_in_force::problem);
  m.def("settings", settings, "Every setting of Lull, in the table's order.");
  m.def(
      "unknown_variables",
      [] {
        std::vector<std::pair<std::string, std::string>> result;
        for (const unknown_variable& u : unknown_variables()) result.emplace_back(u.variable, u.nearest);
        return result;
      },
      "(variable, nearest known one) for every LULL_* variable in the environment that is not a setting.");
}

}  // namespace lull::python
