// Variables that a port sets for the MPI library only: the library's calls of getenv find them. The program and the
// processes that it starts do not. A variable that the user has set keeps its value.
#pragma once
#include <array>
#include <cstring>
#include <string_view>

#include "base/environment.hpp"
#include "base/loaded_object.hpp"
#include "base/redirect.hpp"

namespace lull::mpi {

struct variable {
  const char* name;
  const char* value;
};

// `Variables` is an object with static storage that holds variables, such as an array.
template <const auto& Variables>
char* variable_with(const char* name) {
  const char* found = variable_of_environment(name);
  for (const variable& one : Variables)
    if (found == nullptr && std::strcmp(one.name, name) == 0) found = one.value;
  return const_cast<char*>(found);  // NOLINT(cppcoreguidelines-pro-type-const-cast): getenv's type
}

// Call before MPI_Init. Returns whether the library reads its variables by getenv.
template <const auto& Variables, class F>
bool set_for_library(F&& is_library) {
  return redirect_calls("getenv", &variable_with<Variables>, is_library) != nullptr;
}

// Whether the object is the library itself: libmpi, libmpich, or a vendor's libmpi_cray.
inline bool is_mpich_or_derived(const loaded_object& object) { return std::strncmp(object.soname(), "libmpi", 6) == 0; }

}  // namespace lull::mpi
