// Where blocks become HDF5 files: in liblull-stage-hdf5, which is opened by those that write, when they first do.
//
// A program has perhaps another HDF5 of its own, and Lull stands before that. The module and its HDF5 find each other's
// functions before those of the program (RTLD_DEEPBIND), and the program none of theirs.
#pragma once
#include <span>
#include <string>

#include "stage/files/form.hpp"

namespace lull::stage::blocks {

// What was handed over to be written together. How much it was, in files; throws lull::error.
amount write_by_hdf5(std::span<const handed_over> all, bool sync);

// The virtual file of an iteration, over the files that its folder holds: PATH.h5 for the folder PATH. What of them is
// missing is so in it, too: the line that is returned says so, else it is empty. Throws lull::error.
std::string join_by_hdf5(const std::string& folder, bool sync);

// What the module gives, to be found by dlsym. No exception comes out: `why` is empty if all went well.
struct module_functions {
  void (*write)(std::span<const handed_over> all, bool sync, amount& written, std::string& why) noexcept;
  void (*join)(const std::string& folder, bool sync, std::string& missing, std::string& why) noexcept;
};

}  // namespace lull::stage::blocks

extern "C" [[gnu::visibility("default")]] const lull::stage::blocks::module_functions* lull_stage_hdf5() noexcept;
