// Which of MPI's names the front has. A program finds those that its MPI library has, and no other: where it asks whether
// a function is there, the answer is the library's.
//
// Objects are bound by the front's table of symbols, and that is changed here:
//
//   no MPI library is loaded    each name is an indirect function: when the loader binds an object to it, it asks
//                               lull_mpi_bind(), which looks whether a library has come meanwhile
//   one is loaded               a name that it has leads to its trampoline; any other has no value, and is passed over
//
// Weak references that the loader has bound before the front could change its table are made null where the name is not
// there, as they would be without the front. dlsym does not find these names in the front at all: they have a hidden
// version, which only the binding of objects without versions accepts (names.map). What it finds in the library, the
// front's own dlsym leads to the trampolines (front.cpp).
#pragma once
#include "mpi/front/front.hpp"

namespace lull::mpi {

// Makes the names those of the MPI libraries that are loaded now. Once there is one, it stays so.
void resolve_names() noexcept;

struct mpi_object {
  const void* base = nullptr;
  char path[4096] = "", soname[256] = "";
  bool is_stub = false;  // it has MPI_Init, but no PMPI_Init
};
// An MPI library that is loaded, for all eyes or for some: the one in which `preferred` lies, else the first; a stub only
// if there is no other. False: there is none.
[[nodiscard]] bool find_mpi_object(const void* preferred, mpi_object& found) noexcept;
[[nodiscard]] bool is_of_an_mpi_library(const void* address) noexcept;

// Whether the object in which `address` lies comes before the front where names are looked for.
[[nodiscard]] bool comes_before_the_front(const void* address) noexcept;

// The function of that name which some object other than the front defines, by the objects' own tables; or null.
[[nodiscard]] void* in_tables_behind_the_front(const char* name) noexcept;

// Of the slot that a trampoline is for.
[[nodiscard]] any_function trampoline_of(unsigned slot) noexcept;

}  // namespace lull::mpi
