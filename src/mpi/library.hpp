// The MPI library's functions by their PMPI_ names, for code below the wrappers, and the communicator that a program sees
// as its world. Filled in by prepare_roles() (roles/roles.hpp).
#pragma once
#include "mpi/flavour.hpp"
#include "mpi/front/front.hpp"
#include "mpi/functions.hpp"

namespace lull::mpi {

// The library's functions, independent of the entries of reals.hpp; null if the library has no function of that name.
inline constinit any_function library_functions[function_count]{};

template <class Signature>
[[nodiscard]] Signature* library_function(function f) noexcept {
  return reinterpret_cast<Signature*>(library_functions[static_cast<unsigned>(f)]);
}

// LULL_LIBRARY(MPI_Comm_size)(comm, &size)
#define LULL_LIBRARY(name) (library_function<decltype(::name)>(function::name))

inline MPI_Comm world_of_program{};  // the real one if no ranks are set aside

template <bool is_communicator, class Argument>
[[nodiscard]] Argument in_world_of_program(Argument argument) noexcept {
  if constexpr (is_communicator)
    return argument == predefined.comm_world ? world_of_program : argument;
  else
    return argument;
}

}  // namespace lull::mpi
