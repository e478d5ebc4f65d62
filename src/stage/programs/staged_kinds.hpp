// The files that HDF5 writes as plain ones, by its own default driver: only these are staged.
#pragma once
#include "stage/programs/hdf5_front.hpp"

namespace lull::stage {

// The reason why H5Fcreate with these arguments would not make such a file, or null. Calls HDF5.
[[nodiscard]] const char* why_not_staged(const hdf5_library& library, unsigned flags, hdf5_id access);

// Whether HDF5 writes the file by MPI-IO (H5Pset_fapl_mpio): it is staged, if at all, by MPI's functions.
[[nodiscard]] bool writes_by_mpi(const hdf5_library& library, hdf5_id access);

}  // namespace lull::stage
