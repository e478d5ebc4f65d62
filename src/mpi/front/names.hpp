// Which of MPI's names the front defines. A program finds those that its MPI library has, and no other: a test whether
// a function exists has the library's result.
//
// Objects are bound through the front's symbol table, which is changed here:
//
//   no MPI library is loaded    each name is an indirect function: when the loader binds an object to it, it calls
//                               lull_mpi_bind(), which checks whether a library has been loaded since
//   one is loaded               a name that it has leads to its trampoline; any other has no value, and is skipped
//
// Weak references that the loader has bound before the front could change its table are set to null if the library does
// not have the name, as they would be without the front. dlsym never finds these names in the front: they have a hidden
// version, which only the binding of objects without versions accepts (names.map). The front's dlsym replaces what
// dlsym finds in the library by the trampolines (front.cpp).
#pragma once
#include "mpi/front/front.hpp"

namespace lull::mpi {

// Makes the names those of the MPI libraries that are loaded now. After the first one is found, they do not change.
void resolve_names() noexcept;

struct mpi_object {
  const void* base = nullptr;
  char path[4096] = "", soname[256] = "";
  bool is_stub = false;  // it has MPI_Init, but not PMPI_Init
};
// Finds a loaded MPI library, globally visible or not: the one that contains `preferred`, otherwise the first; a stub
// only if there is no other. Returns false if there is none.
[[nodiscard]] bool find_mpi_object(const void* preferred, mpi_object& found) noexcept;
[[nodiscard]] bool is_of_an_mpi_library(const void* address) noexcept;

// Whether the object that contains `address` precedes the front in the symbol search order.
[[nodiscard]] bool comes_before_the_front(const void* address) noexcept;

// The function of that name that an object other than the front defines in its symbol table; null: none.
[[nodiscard]] void* in_tables_behind_the_front(const char* name) noexcept;

// The trampoline of a slot.
[[nodiscard]] any_function trampoline_of(unsigned slot) noexcept;

}  // namespace lull::mpi
