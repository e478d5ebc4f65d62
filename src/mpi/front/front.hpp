// What the front and the library of a flavour say to each other. Both are of one build; the count of functions is
// compared nevertheless, for an installation may be half replaced.
//
//   front:   flavour = lull_mpi_attach(&what_it_offers);     at the first call of MPI in a process where a tool is wanted
//            wrapper = flavour->wrapper(number, real);       at the first call of each function
//            jumps to the wrapper, or where there is none to `real`, ever after
#pragma once

namespace lull::mpi {

using any_function = void (*)();

struct front_offers {
  unsigned function_count;
  void* library;                // a handle of the MPI library that the process has loaded, for dlsym
  const char* library_version;  // as MPI_Get_library_version says it
  // From now on calls of opal_progress, sched_yield or poll by that name go to `by`.
  void (*replace)(const char* name, any_function by);
};

struct flavour_offers {
  // For function `number`, called by its name MPI_... or PMPI_...: what stands before `real`, or null.
  any_function (*wrapper)(unsigned number, any_function real);
};

}  // namespace lull::mpi

// Of the flavour; null: this process has nothing to do, and the reason is on stderr if there is one.
extern "C" [[gnu::visibility("default")]] const lull::mpi::flavour_offers* lull_mpi_attach(
    const lull::mpi::front_offers* front) noexcept;
