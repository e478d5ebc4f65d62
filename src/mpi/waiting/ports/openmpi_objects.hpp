// Open MPI's loaded objects, its libraries and plugins, and whether they yield.
#pragma once
#include <dlfcn.h>

#include <cstring>

#include "base/loaded_object.hpp"

namespace lull::mpi {

inline bool is_of_open_mpi(const loaded_object& object) {
  const char* const name = object.soname();
  for (const char* const beginning : {"libmpi", "libopen-", "libompi", "liboshmem", "libmca_", "mca_"})
    if (std::strncmp(name, beginning, std::strlen(beginning)) == 0) return true;
  return false;
}

// Whether its progress yields the core if it finds nothing. mpirun sets this if there are more ranks than cores.
inline bool yields_when_idle(void* library) {
  const auto* const yields = static_cast<const bool*>(dlsym(library, "opal_progress_yield_when_idle"));
  return yields != nullptr && *yields;
}

}  // namespace lull::mpi
