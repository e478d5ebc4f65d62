// Ranks set aside to write the program's output, where LULL_STAGE asks for it.
//
//   prepare_roles(library);                 when the front attaches; the library of an MPI program
//   called = under_roles(number, real);     for each function: what is called in place of the library's
//
// After the library's MPI_Init all ranks find out who is set aside. Those do not come back from the program's MPI_Init: they
// serve, end MPI with the others, and exit. The others go on; MPI_COMM_WORLD has them alone, in the order of their ranks
// (world.hpp). A job of which some ranks are not under Lull ends with a line. MPI_Finalize waits until all output is written. A process without LULL_STAGE pays nothing, and of one by
// itself, or one that another has spawned, nobody is set aside.
#pragma once
#include "mpi/front/front.hpp"

namespace lull::mpi {

[[nodiscard]] bool roles_wanted();  // LULL_STAGE names an approach
void prepare_roles(void* library);
[[nodiscard]] any_function under_roles(unsigned number, any_function real) noexcept;

}  // namespace lull::mpi
