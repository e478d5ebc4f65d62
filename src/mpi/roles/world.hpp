// What MPI_COMM_WORLD means for a program when some ranks are set aside: the communicator of the others.
//
// The program's handle cannot change, since it is a constant or the address of a variable of the library. Instead, each
// function of the library that takes a communicator is replaced by one that translates the argument; worlds.py
// generates the table of them. They are below the wrappers that record and wait: in reals.hpp they are the library's
// functions. Fortran calls PMPI_..., and so passes through here, too.
//
// Predefined attributes, which the library stores on the real world only, are queried there. An error handler of the
// world is also set on the real one, for errors that belong to no communicator.
#pragma once
#include <cstdint>
#include <utility>

#include "mpi/front/front.hpp"
#include "mpi/functions.hpp"
#include "mpi/library.hpp"

namespace lull::mpi {

// `communicators`: a bit for each parameter that is a communicator.
template <function f, std::uint64_t communicators, class... Parameters>
int translated(Parameters... arguments) {
  return [&]<std::size_t... place>(std::index_sequence<place...>) {
    return library_function<int(Parameters...)>(f)(
        in_world_of_program<(communicators >> place & 1) != 0>(arguments)...);
  }
  (std::index_sequence_for<Parameters...>{});
}

[[nodiscard]] constexpr bool is_predefined_attribute(int keyval) noexcept {
  return keyval == MPI_TAG_UB || keyval == MPI_HOST || keyval == MPI_IO || keyval == MPI_WTIME_IS_GLOBAL ||
         keyval == MPI_UNIVERSE_SIZE || keyval == MPI_APPNUM || keyval == MPI_LASTUSEDCODE;
}

template <function f>
int get_attribute(MPI_Comm comm, int keyval, void* value, int* flag) {
  const auto ask = library_function<int(MPI_Comm, int, void*, int*)>(f);
  return ask(is_predefined_attribute(keyval) ? comm : in_world_of_program<true>(comm), keyval, value, flag);
}

template <function f>
int set_error_handler(MPI_Comm comm, MPI_Errhandler handler) {
  const auto set = library_function<int(MPI_Comm, MPI_Errhandler)>(f);
  const MPI_Comm seen = in_world_of_program<true>(comm);
  const int result = set(seen, handler);
  return result == MPI_SUCCESS && seen != comm ? set(comm, handler) : result;
}

// Start and end of the program's MPI (roles.cpp).
int init(int* argc, char*** argv);
int init_thread(int* argc, char*** argv, int required, int* provided);
int finalize();

template <class Function>
[[nodiscard]] any_function as_any(Function* f) noexcept {
  return reinterpret_cast<any_function>(f);
}

// By number: the function to call instead of the library's, or null.
extern const any_function in_our_world[];

}  // namespace lull::mpi
