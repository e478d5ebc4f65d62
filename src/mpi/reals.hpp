// The MPI library's functions, as addresses: wrappers call them for the program, and tools for information. They are
// not wrapped again; if ranks are set aside, the world among a function's arguments is translated (roles/world.hpp).
#pragma once
#include "mpi/front/front.hpp"
#include "mpi/functions.hpp"

namespace lull::mpi {

// Of a function that was called, or that is in attach.cpp's list; otherwise null.
inline constinit any_function reals[function_count]{};

template <class Signature>
[[nodiscard]] Signature* real_function(function f) noexcept {
  return reinterpret_cast<Signature*>(reals[static_cast<unsigned>(f)]);
}

// LULL_REAL(MPI_Comm_size)(comm, &size)
#define LULL_REAL(name) (real_function<decltype(::name)>(function::name))

}  // namespace lull::mpi
