// Members that are vectors, as read-only numpy arrays without a copy.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

namespace lull::python {

// A view of `values`, which `owner` holds and the view keeps alive.
template <class T>
nanobind::ndarray<nanobind::numpy, const T, nanobind::ndim<1>> view(const std::vector<T>& values,
                                                                    nanobind::handle owner) {
  return {values.data(), {values.size()}, owner};
}

template <class Owner, class T>
auto column(std::vector<T> Owner::*member) {
  return [member](nanobind::handle self) { return view(nanobind::cast<const Owner&>(self).*member, self); };
}

}  // namespace lull::python
