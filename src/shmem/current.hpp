// The world of this process between shmem_init() and shmem_finalize(): the only global of the runtime, because the
// OpenSHMEM interface has no handle to carry it.
#pragma once
#include "fabric/world.hpp"

namespace lull::shmem {

extern fabric::world* current_world;

[[noreturn]] void not_initialised(const char* call);

inline fabric::world& here(const char* call) {
  if (!current_world) [[unlikely]]
    not_initialised(call);
  return *current_world;
}

}  // namespace lull::shmem
