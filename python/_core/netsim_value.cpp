#include "netsim_value.hpp"

#include <string>
#include <utility>

#include "text.hpp"

namespace nb = nanobind;

namespace lull::python {
namespace {

using netsim::list;
using netsim::table;
using netsim::value;

std::string text_of(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }

value whole_of(nb::handle object) {
  int beyond = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object.ptr(), &beyond);
  if (beyond == 0) return static_cast<std::int64_t>(number);
  return text_of(object);
}

struct to_object {
  nb::object operator()(std::monostate /*none*/) const { return nb::none(); }
  nb::object operator()(bool v) const { return nb::bool_(v); }
  nb::object operator()(std::int64_t v) const { return nb::int_(v); }
  nb::object operator()(double v) const { return nb::float_(v); }
  nb::object operator()(const std::string& v) const { return nb::steal(text_for_python(v)); }
  nb::object operator()(const list& v) const {
    nb::list items;
    for (const value& one : v) items.append(object_of(one));
    return items;
  }
  nb::object operator()(const table& v) const {
    nb::dict items;
    for (const auto& [name, one] : v) items[nb::steal(text_for_python(name))] = object_of(one);
    return items;
  }
};

}  // namespace

value value_of(nb::handle object) {
  if (object.is_none()) return {};
  if (nb::isinstance<nb::bool_>(object)) return nb::cast<bool>(object);
  if (nb::isinstance<nb::int_>(object)) return whole_of(object);
  if (nb::isinstance<nb::float_>(object)) return nb::cast<double>(object);
  if (nb::isinstance<nb::str>(object)) return text_of(object);
  if (nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object)) {
    list items;
    for (const nb::handle one : object) items.push_back(value_of(one));
    return {std::move(items)};
  }
  if (PyMapping_Check(object.ptr()) != 0 && nb::hasattr(object, "items")) {
    table items;
    for (const nb::handle entry : object.attr("items")()) items.emplace_back(text_of(entry[0]), value_of(entry[1]));
    return {std::move(items)};
  }
  return text_of(object);
}

nb::object object_of(const value& v) { return std::visit(to_object{}, v.is); }

}  // namespace lull::python
