// Runs what a shared library has registered for the end of the process (atexit, destructors), and nothing of the program
// or of other libraries. For a process that is about to call _exit().
//
// MPICH leaves its process manager in such a handler. Without it, Hydra takes the end for a failure, and kills the ranks
// that have not ended yet.
#pragma once

namespace lull::mpi {

// `handle`: from dlopen().
void run_exit_handlers_of(void* handle) noexcept;

}  // namespace lull::mpi
