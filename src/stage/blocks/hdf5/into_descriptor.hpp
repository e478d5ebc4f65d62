// An HDF5 driver that reads and writes through a descriptor. A file thus needs no name while it is written, and the
// system's own error is known when a write fails.
//
// After the first failure the driver writes nothing more and reports success to HDF5, so that HDF5 closes the file in
// order and leaves nothing open in the program. The error is in `failed`.
#pragma once
#include <hdf5.h>

namespace lull::stage::blocks {

struct hdf5_target {
  int descriptor = -1;
  int failed = 0;  // errno
};

// An access list for H5Fcreate or H5Fopen with any name. The target must outlive the file. Close the list by H5Pclose.
// Negative if HDF5 refuses.
[[nodiscard]] hid_t access_by(hdf5_target& target);

}  // namespace lull::stage::blocks
