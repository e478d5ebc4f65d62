// A new HDF5 file that gets its name only when it is complete.
#pragma once
#include <sys/stat.h>

#include <cstdint>

#include "base/error.hpp"
#include "stage/blocks/hdf5/hdf5_objects.hpp"
#include "stage/blocks/hdf5/into_descriptor.hpp"
#include "stage/files/whole_file.hpp"

namespace lull::stage::blocks {

// `fill(file)` writes the content. Returns the size in bytes. Throws lull::error with path and reason; then nothing has
// changed.
template <class Fill>
std::uint64_t make_hdf5_file(const destination& where, bool sync, Fill&& fill) {
  const quiet_hdf5 meanwhile;
  nameless_file made(where);
  hdf5_target target{made.get()};
  try {
    const hdf5_object access(access_by(target), H5Pclose);
    hdf5_object file(H5Fcreate(where.path.c_str(), truncate_it, H5P_DEFAULT, access), H5Fclose);
    fill(static_cast<hid_t>(file));
    file.close();
  } catch (const hdf5_failure& problem) {
    if (target.failed == 0) throw error("write " + where.path, problem.why);
  }
  if (target.failed != 0) throw error("write " + where.path, describe_errno(target.failed));
  struct stat found {};
  const auto bytes = fstat(made.get(), &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
  made.take_name(sync);
  return bytes;
}

}  // namespace lull::stage::blocks
