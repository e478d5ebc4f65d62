// The conversion of blocks into HDF5 files, in liblull-stage-hdf5, which a writing process opens at the first use.
//
// The program may have its own HDF5, which Lull intercepts. With RTLD_DEEPBIND the module and its HDF5 resolve symbols
// among themselves before those of the program, and the program sees none of theirs.
#pragma once
#include <span>
#include <string>

#include "stage/files/form.hpp"

namespace lull::stage::blocks {

// Writes blocks that were handed over to be written together. Returns the amount in the files; throws lull::error.
amount write_by_hdf5(std::span<const handed_over> all, bool sync);

// Writes the virtual file of an iteration over the files in its folder: PATH.h5 for the folder PATH. Data that is
// missing there is missing in the virtual file too, and the returned line reports it; otherwise the line is empty.
// Throws lull::error.
std::string join_by_hdf5(const std::string& folder, bool sync);

// The functions of the module, found by dlsym. No exception leaves them: `why` is empty on success.
struct module_functions {
  void (*write)(std::span<const handed_over> all, bool sync, amount& written, std::string& why) noexcept;
  void (*join)(const std::string& folder, bool sync, std::string& missing, std::string& why) noexcept;
};

}  // namespace lull::stage::blocks

extern "C" [[gnu::visibility("default")]] const lull::stage::blocks::module_functions* lull_stage_hdf5() noexcept;
