// The interface between the front and a flavour's library. Both come from one build; the number of functions is checked
// nevertheless, because an installation may be half replaced.
//
//   front:   flavour = lull_mpi_attach(&what_it_offers);     at the first call of MPI, if a tool is requested
//            wrapper = flavour->wrapper(number, real);       at the first call of each function
//            jumps to the wrapper, or to `real` if there is none, from then on
#pragma once

namespace lull::mpi {

using any_function = void (*)();

struct front_offers {
  unsigned function_count;
  void* library;                // handle of the loaded MPI library, for dlsym
  const char* library_version;  // from MPI_Get_library_version
};

struct flavour_offers {
  // The wrapper of `real`, which is function `number`, called as MPI_... or PMPI_...; null: none.
  any_function (*wrapper)(unsigned number, any_function real);
};

}  // namespace lull::mpi

// Defined by the flavour; null: nothing applies to this process; stderr has the reason if there is one.
extern "C" [[gnu::visibility("default")]] const lull::mpi::flavour_offers* lull_mpi_attach(
    const lull::mpi::front_offers* front) noexcept;
