// Loops of tests in place of calls that wait for messages, for libraries whose waiting loop Lull does not see
// (LULL_MPI_LOOPS=all). A test that finds nothing is a turn in which the engine may sleep.
//
// MPI_Recv, MPI_Send, MPI_Ssend, MPI_Probe, MPI_Mprobe and MPI_Wait with its variants have such a loop. Collectives do
// not: tests make them up to three times as slow. Without a policy in force the library's own function is called.
#pragma once
#include "mpi/front/front.hpp"

namespace lull::mpi {

[[nodiscard]] bool test_loops_wanted();

// The loop in place of the function with this number, or `real` if it has none.
[[nodiscard]] any_function as_test_loop(unsigned number, any_function real) noexcept;

}  // namespace lull::mpi
