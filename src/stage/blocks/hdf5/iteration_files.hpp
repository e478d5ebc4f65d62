// The HDF5 files of an iteration.
//
//   NAME.000010/p0003.h5     the output of process 3: a dataset for each variable
//   NAME.000010/p0003+2.h5   the output of process 3 and two others: a group for each process, p0003, with its datasets
//   NAME.000010.h5           the virtual file over these: each variable as one virtual dataset
//
// The process that writes the last of the files that cover all processes also writes the virtual file; no process waits
// for it. If several do, the results are the same. Of two files of one process the newer one counts.
#pragma once
#include <hdf5.h>

#include <span>
#include <string>

#include "stage/blocks/block_file.hpp"
#include "stage/files/form.hpp"

namespace lull::stage::blocks {

// Writes what was handed over to be written together, and the virtual file if it was the last part. Throws lull::error
// after it has tried everything.
amount write_iteration(std::span<const handed_over> all, bool sync);

// Writes the virtual file over the folder of an iteration. If `wanted` is not 0, does nothing while there are files of
// fewer than `wanted` processes. Otherwise returns a line with the number of missing processes, or an empty one. Throws
// lull::error.
std::string write_virtual_file(const std::string& folder, int wanted, bool sync);

// Sets the chunks and their compression in the creation list of a dataset.
void pack(hid_t creation, const block& of);

}  // namespace lull::stage::blocks
