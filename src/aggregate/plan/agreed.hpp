// The value of PE 0, on all PEs. Collective. Throws std::bad_alloc, on all PEs, if the symmetric heap has no room for
// it.
#pragma once
#include <memory>
#include <new>
#include <type_traits>

#include "fabric/teams/collectives.hpp"
#include "fabric/teams/team.hpp"
#include "fabric/world.hpp"

namespace lull::aggregate {

template <class T>
T as_first_finds(fabric::world& world, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto release = [&](void* memory) { world.memory().release(memory); };
  const std::unique_ptr<T, decltype(release)> shared(static_cast<T*>(world.memory().allocate(sizeof(T))), release);
  if (!shared) throw std::bad_alloc();
  world.everybody().sync();
  // Only PE 0 writes: its broadcast may arrive before the other PEs have come this far.
  if (world.me().index() == 0) *shared = mine;
  fabric::broadcast(world.everybody(), shared.get(), shared.get(), sizeof(T), 0);
  const T found = *shared;
  world.everybody().sync();
  return found;
}

}  // namespace lull::aggregate
