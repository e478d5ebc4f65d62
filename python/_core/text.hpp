// Text between Python and the core, in place of <nanobind/stl/string.h> and <nanobind/stl/string_view.h>.
//
// Paths, settings, labels of sensors and output of tools are bytes to the system and need not be UTF-8. As everywhere
// in Python, an invalid byte becomes a lone surrogate (`surrogateescape`) and is converted back to the same byte.
#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace lull::python {

// A new reference, or null with a Python error.
inline PyObject* text_for_python(std::string_view text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
}

}  // namespace lull::python

namespace nanobind::detail {

template <>
struct type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle src, uint32_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
    if (!PyUnicode_Check(src.ptr())) return false;
    PyObject* const bytes = PyUnicode_AsEncodedString(src.ptr(), "utf-8", "surrogateescape");
    if (bytes == nullptr) {
      PyErr_Clear();
      return false;
    }
    value.assign(PyBytes_AsString(bytes), static_cast<std::size_t>(PyBytes_Size(bytes)));
    Py_DECREF(bytes);
    return true;
  }

  static handle from_cpp(const std::string& value, rv_policy /*policy*/, cleanup_list* /*cleanup*/) noexcept {
    return lull::python::text_for_python(value);
  }
};

// Only towards Python, because in the other direction nothing would own the bytes.
template <>
struct type_caster<std::string_view> {
  NB_TYPE_CASTER(std::string_view, const_name("str"))

  bool from_python(handle /*src*/, uint32_t /*flags*/, cleanup_list* /*cleanup*/) noexcept { return false; }
  static handle from_cpp(std::string_view value, rv_policy /*policy*/, cleanup_list* /*cleanup*/) noexcept {
    return lull::python::text_for_python(value);
  }
};

}  // namespace nanobind::detail
