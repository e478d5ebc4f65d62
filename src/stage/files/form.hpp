// The forms in which output is handed over, one row each: what whoever writes makes of it.
#pragma once
#include <cstdint>
#include <span>

#include "stage/accounts/figures.hpp"
#include "stage/files/claim.hpp"
#include "stage/files/whole_file.hpp"

namespace lull::stage {

enum class form : std::uint32_t {
  whole,   // a file as it shall be
  blocks,  // blocks of variables (blocks/block_file.hpp), of which HDF5 files are made
};

struct handed_over {
  int content;  // a descriptor, which is read from its beginning
  destination where;
  const claim* place = nullptr;  // of a whole file
};

// Writes what has been handed over to be written together, one or several; how much it was then, in the files. Throws lull::error naming
// path and reason, when it has tried all.
amount write_together(form what, std::span<const handed_over> all, bool sync);

}  // namespace lull::stage
