// What the environment variables of OpenSHMEM make a job say: SHMEM_VERSION, SHMEM_INFO and SHMEM_DEBUG.
//
// All of it goes to stderr, a line at a time. PE 0 reports what all PEs share, each PE what is its own.
#pragma once
#include <string>

#include "fabric/world.hpp"

namespace lull::shmem {

void say_hello(fabric::world& world, int thread_level);           // at the end of shmem_init
void say_goodbye(fabric::world& world);                           // before the world is finalized
void debug(const fabric::world& world, const std::string& what);  // nothing unless SHMEM_DEBUG is set

}  // namespace lull::shmem
