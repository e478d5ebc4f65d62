#include "stage/blocks/hdf5/hdf5_objects.hpp"

#include <dlfcn.h>

#include <algorithm>

namespace lull::stage::blocks {

void fail_as_hdf5_says() {
  std::string cause;
  const auto first = [](unsigned, const H5E_error2_t* found, void* into) -> herr_t {
    auto& text = *static_cast<std::string*>(into);
    if (text.empty() && found->desc != nullptr) text = found->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first, &cause);
  throw hdf5_failure{cause.empty() ? "HDF5 reports no reason" : "HDF5 reports: " + cause};
}

hid_t hdf5_constant(hid_t seen, const char* variable) {
  if (seen >= 0) return seen;
  const auto* const copy = static_cast<const hid_t*>(dlsym(RTLD_DEFAULT, variable));
  return copy == nullptr ? seen : *copy;
}

extents::extents(const std::vector<std::int64_t>& values) : rank(static_cast<int>(values.size())), of{} {
  std::ranges::transform(values, of.begin(), [](std::int64_t value) { return static_cast<hsize_t>(value); });
}

hid_t type_of(element what) {
  switch (what) {
    case element::int8:
      return hdf5_constant(H5T_NATIVE_INT8, "H5T_NATIVE_INT8_g");
    case element::uint8:
      return hdf5_constant(H5T_NATIVE_UINT8, "H5T_NATIVE_UINT8_g");
    case element::int16:
      return hdf5_constant(H5T_NATIVE_INT16, "H5T_NATIVE_INT16_g");
    case element::uint16:
      return hdf5_constant(H5T_NATIVE_UINT16, "H5T_NATIVE_UINT16_g");
    case element::int32:
      return hdf5_constant(H5T_NATIVE_INT32, "H5T_NATIVE_INT32_g");
    case element::uint32:
      return hdf5_constant(H5T_NATIVE_UINT32, "H5T_NATIVE_UINT32_g");
    case element::int64:
      return hdf5_constant(H5T_NATIVE_INT64, "H5T_NATIVE_INT64_g");
    case element::uint64:
      return hdf5_constant(H5T_NATIVE_UINT64, "H5T_NATIVE_UINT64_g");
    case element::float32:
      return hdf5_constant(H5T_NATIVE_FLOAT, "H5T_NATIVE_FLOAT_g");
    case element::float64:
      break;
  }
  return hdf5_constant(H5T_NATIVE_DOUBLE, "H5T_NATIVE_DOUBLE_g");
}

void write_attribute(hid_t to, const char* name, const std::vector<std::int64_t>& values) {
  const hsize_t count = values.size();
  const hdf5_object space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const hdf5_object made(
      H5Acreate2(to, name, hdf5_constant(H5T_STD_I64LE, "H5T_STD_I64LE_g"), space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  check(H5Awrite(made, type_of(element::int64), values.data()));
}

void write_attribute(hid_t to, const char* name, const std::string& text) {
  const hdf5_object type(H5Tcopy(hdf5_constant(H5T_C_S1, "H5T_C_S1_g")), H5Tclose);
  check(H5Tset_size(type, H5T_VARIABLE));  // readers return it as text
  check(H5Tset_cset(type, H5T_CSET_UTF8));
  const hdf5_object space(H5Screate(H5S_SCALAR), H5Sclose);
  const hdf5_object made(H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const char* const letters = text.c_str();
  check(H5Awrite(made, type, &letters));
}

}  // namespace lull::stage::blocks
