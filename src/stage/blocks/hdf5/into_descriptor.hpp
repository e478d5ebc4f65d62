// A driver of HDF5 by which it reads and writes what a descriptor stands for, so that a file needs no name while it is written,
// and the system's own reason is known when it cannot be.
//
// After the first failure nothing more is written, and HDF5 is told that all went well: so it closes the file in order,
// and the program that shares it keeps nothing open. The reason is in `failed`.
#pragma once
#include <hdf5.h>

namespace lull::stage::blocks {

struct hdf5_target {
  int descriptor = -1;
  int failed = 0;  // errno
};

// An access list for H5Fcreate or H5Fopen with any name; the target outlives the file. To be closed by H5Pclose.
// Negative: HDF5 refuses.
[[nodiscard]] hid_t access_by(hdf5_target& target);

}  // namespace lull::stage::blocks
