// The HDF5 files of an iteration.
//
//   NAME.000010/p0003.h5     what process 3 has written: a dataset for each variable
//   NAME.000010/p0003+2.h5   the same of process 3 and two others: a group for each process, p0003, with its datasets
//   NAME.000010.h5           over all of these: each variable as one virtual dataset
//
// Whoever writes the last of the files that cover all processes writes the virtual one; nobody waits for it. When several
// do so it is the same. Of two files of one process the newer counts.
#pragma once
#include <hdf5.h>

#include <span>
#include <string>

#include "stage/blocks/block_file.hpp"
#include "stage/files/form.hpp"

namespace lull::stage::blocks {

// What was handed over to be written together, and the virtual file if that was the last of it. Throws lull::error when it has tried
// all.
amount write_iteration(std::span<const handed_over> all, bool sync);

// The virtual file over the folder of an iteration. Nothing happens while files of fewer than `wanted` processes are there, if it
// is not 0; else a line says how many are missing, or nothing. Throws lull::error.
std::string write_virtual_file(const std::string& folder, int wanted, bool sync);

// For the creation list of a dataset: chunks, and how they are compressed.
void pack(hid_t creation, const block& of);

}  // namespace lull::stage::blocks
