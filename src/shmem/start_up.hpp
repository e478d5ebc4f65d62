// Messages that the environment variables of OpenSHMEM turn on: SHMEM_VERSION, SHMEM_INFO and SHMEM_DEBUG.
//
// They go to stderr, one line at a time. PE 0 reports what is common to all PEs, each PE what concerns it alone.
#pragma once
#include <string>

#include "fabric/world.hpp"

namespace lull::shmem {

void say_hello(fabric::world& world, int thread_level);           // at the end of shmem_init
void say_goodbye(fabric::world& world);                           // before the world is finalized
void debug(const fabric::world& world, const std::string& what);  // prints under SHMEM_DEBUG only

}  // namespace lull::shmem
