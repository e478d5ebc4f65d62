#include "stage/programs/staged_kinds.hpp"

#include <dlfcn.h>

#include <string_view>

#include "base/environment.hpp"

namespace lull::stage {
namespace {

// From H5Fpublic.h and H5Ppublic.h; unchanged since 1.10.
constexpr unsigned swmr_write = 0x20;
constexpr hdf5_id default_list = 0;

template <class Signature>
Signature* in(const hdf5_library& library, const char* name) {
  return reinterpret_cast<Signature*>(dlsym(library.handle, name));
}

// The driver of a new list of the same class: HDF5's own default, unless HDF5_DRIVER names another.
hdf5_id default_driver(const hdf5_library& library, hdf5_id access, hdf5_id (*driver_of)(hdf5_id)) {
  const auto class_of = in<hdf5_id(hdf5_id)>(library, "H5Pget_class");
  const auto create = in<hdf5_id(hdf5_id)>(library, "H5Pcreate");
  const auto close = in<int(hdf5_id)>(library, "H5Pclose"), close_class = in<int(hdf5_id)>(library, "H5Pclose_class");
  if (class_of == nullptr || create == nullptr || close == nullptr || close_class == nullptr) return -1;
  const hdf5_id kind = class_of(access);
  const hdf5_id fresh = kind >= 0 ? create(kind) : -1;
  const hdf5_id driver = fresh >= 0 ? driver_of(fresh) : -1;
  if (fresh >= 0) (void)close(fresh);
  if (kind >= 0) (void)close_class(kind);
  return driver;
}

hdf5_id mpi_driver(const hdf5_library& library) {
  if (const auto function = in<hdf5_id()>(library, "H5FD_mpio_init")) return function();
  const auto* const variable = static_cast<const hdf5_id*>(dlsym(library.handle, "H5FD_MPIO_id_g"));  // since 2.0
  return variable != nullptr ? *variable : -1;
}

}  // namespace

const char* why_not_staged(const hdf5_library& library, unsigned flags, hdf5_id access) {
  unsigned major = 0, minor = 0, release = 0;
  const auto version = in<int(unsigned*, unsigned*, unsigned*)>(library, "H5get_libversion");
  if (version == nullptr || version(&major, &minor, &release) < 0 || (major == 1 && minor < 10))
    return "Lull stages files of HDF5 1.10 and later";
  if ((flags & swmr_write) != 0) return "others may read it while it is written (SWMR)";
  if (text_of_environment("HDF5_VOL_CONNECTOR") != nullptr) return "HDF5_VOL_CONNECTOR names another connector";
  const char* const named = text_of_environment("HDF5_DRIVER");
  if (named != nullptr && std::string_view(named) != "sec2")
    return "HDF5_DRIVER names another driver than HDF5's default";
  if (access == default_list) return nullptr;
  const auto driver_of = in<hdf5_id(hdf5_id)>(library, "H5Pget_driver");
  if (driver_of == nullptr) return "this HDF5 does not report its driver";
  const hdf5_id driver = driver_of(access);
  if (driver >= 0 && driver == default_driver(library, access, driver_of)) return nullptr;
  return "the program has chosen another driver than HDF5's default";
}

bool writes_by_mpi(const hdf5_library& library, hdf5_id access) {
  const auto driver_of = in<hdf5_id(hdf5_id)>(library, "H5Pget_driver");
  if (driver_of == nullptr || access == default_list) return false;
  const hdf5_id driver = driver_of(access);
  return driver >= 0 && driver == mpi_driver(library);
}

}  // namespace lull::stage
