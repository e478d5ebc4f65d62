// The forms in which output is handed over, one row each, and how each is written.
#pragma once
#include <cstdint>
#include <span>

#include "stage/accounts/figures.hpp"
#include "stage/files/claim.hpp"
#include "stage/files/whole_file.hpp"

namespace lull::stage {

enum class form : std::uint32_t {
  whole,   // a file with its final content
  blocks,  // blocks of variables (blocks/block_file.hpp), which become HDF5 files
};

struct handed_over {
  int content;  // a descriptor, read from its beginning
  destination where;
  const claim* place = nullptr;  // for a whole file
};

// Writes one or several outputs that were handed over to be written together. Returns the amount in the files. Throws
// lull::error with path and reason after it has tried everything.
amount write_together(form what, std::span<const handed_over> all, bool sync);

}  // namespace lull::stage
