// The MPI library's own functions, as addresses: by these a wrapper does what the program has asked for, and tools ask
// the library what they want to know. Nothing here is wrapped again; where ranks are set aside, the world among a
// function's arguments is translated (roles/world.hpp).
#pragma once
#include "mpi/front/front.hpp"
#include "mpi/functions.hpp"

namespace lull::mpi {

// Of a function that has been called, or of one that attach.cpp says tools call; else null.
inline constinit any_function reals[function_count]{};

template <class Signature>
[[nodiscard]] Signature* real_function(function f) noexcept {
  return reinterpret_cast<Signature*>(reals[static_cast<unsigned>(f)]);
}

// LULL_REAL(MPI_Comm_size)(comm, &size)
#define LULL_REAL(name) (real_function<decltype(::name)>(function::name))

}  // namespace lull::mpi
