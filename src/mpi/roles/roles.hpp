// Sets ranks aside that write the program's output, if LULL_STAGE requests it.
//
//   prepare_roles(library);                 when the front attaches; `library` is the MPI library
//   called = under_roles(number, real);     for each function: the function to call instead of the library's
//
// After the library's MPI_Init, all ranks determine which of them are set aside. These do not return from the program's
// MPI_Init: they serve, finalise MPI with the others, and exit. The others continue; their MPI_COMM_WORLD contains only
// them, in the order of their ranks (world.hpp). A job in which some ranks are not under Lull ends with a line.
// MPI_Finalize waits until all output is written. A process without LULL_STAGE pays nothing. No ranks
// are set aside in a job of one process, or among spawned processes.
#pragma once
#include "mpi/front/front.hpp"

namespace lull::mpi {

[[nodiscard]] bool roles_wanted();  // LULL_STAGE names an approach
void prepare_roles(void* library);
[[nodiscard]] any_function under_roles(unsigned number, any_function real) noexcept;

}  // namespace lull::mpi
