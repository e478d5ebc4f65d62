// Which loaded objects are Open MPI's: its libraries and plugins.
#pragma once
#include <cstring>

#include "base/loaded_object.hpp"

namespace lull::mpi {

inline bool is_of_open_mpi(const loaded_object& object) {
  const char* const name = object.soname();
  for (const char* const beginning : {"libmpi", "libopen-", "libompi", "liboshmem", "libmca_", "mca_"})
    if (std::strncmp(name, beginning, std::strlen(beginning)) == 0) return true;
  return false;
}

}  // namespace lull::mpi
