// The symmetric heap. As the specification requires, every allocation ends and every release begins with a barrier.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>

#include "base/counted.hpp"
#include "base/settings.hpp"
#include "shmem.h"
#include "shmem/current.hpp"
#include "shmem/start_up.hpp"

using lull::shmem::here;

namespace {

// The barrier of a call of the heap; with LULL_CHECK it finds PEs that pass other arguments.
void heap_barrier(lull::fabric::world& world, std::uint64_t a, std::uint64_t b = 0) {
  shmem_quiet();
  world.everybody().sync(world.checks() ? lull::fabric::team::describe({a, b}) : 0);
}

void* allocate(std::size_t bytes, std::size_t alignment, bool zero, const char* call) {
  if (bytes == 0) return nullptr;
  auto& world = here(call);
  void* const block = world.memory().allocate(bytes, alignment);
  if (block && zero) std::memset(block, 0, bytes);
  if (!block) {
    lull::shmem::debug(world, std::string(call) + ": no room for " + lull::counted(bytes, "byte") + " in the heap");
    return nullptr;
  }
  heap_barrier(world, bytes, alignment);
  return block;
}

}  // namespace

void* shmem_malloc(size_t size) { return allocate(size, 0, false, "shmem_malloc"); }

void* shmem_calloc(size_t count, size_t size) {
  if (size != 0 && count > std::numeric_limits<std::size_t>::max() / size) return nullptr;
  return allocate(count * size, 0, true, "shmem_calloc");
}

// The specification requires a multiple of a pointer's size; every allocation is aligned to more than that anyway.
void* shmem_align(size_t alignment, size_t size) {
  constexpr const char* call = "shmem_align";
  auto& world = here(call);
  const std::size_t heap = lull::setting_size("SHMEM_SYMMETRIC_SIZE");
  std::string wrong;
  if (!std::has_single_bit(alignment)) wrong = " is not a power of two";
  if (alignment > heap) wrong = " is larger than the heap of " + lull::counted(heap, "byte");
  if (wrong.empty()) return allocate(size, alignment, false, call);
  wrong.insert(0, "the alignment " + std::to_string(alignment));
  if (world.checks()) lull::shmem::mistake(call, wrong);
  lull::shmem::debug(world, std::string(call) + ": " + wrong);
  return nullptr;
}

void* shmem_realloc(void* ptr, size_t size) {
  auto& world = here("shmem_realloc");
  if (!ptr) return shmem_malloc(size);
  if (size == 0) {
    shmem_free(ptr);
    return nullptr;
  }
  const auto old_size = world.memory().size_of(ptr);
  if (!old_size) return nullptr;
  heap_barrier(world, world.memory().offset_of(ptr), size);
  void* const moved = world.memory().allocate(size);
  if (!moved) return nullptr;
  std::memcpy(moved, ptr, std::min(size, *old_size));
  world.memory().release(ptr);
  shmem_barrier_all();
  return moved;
}

void shmem_free(void* ptr) {
  if (!ptr) return;
  auto& world = here("shmem_free");
  if (world.checks() && !world.memory().size_of(ptr))
    lull::shmem::mistake("shmem_free", "the address was not returned by shmem_malloc or a related function");
  heap_barrier(world, world.memory().offset_of(ptr));
  world.memory().release(ptr);
}

// All of the heap serves atomics and signals equally well.
void* shmem_malloc_with_hints(size_t size, long) { return allocate(size, 0, false, "shmem_malloc_with_hints"); }

void* shmalloc(size_t size) { return shmem_malloc(size); }
void* shmemalign(size_t alignment, size_t size) { return shmem_align(alignment, size); }
void* shrealloc(void* ptr, size_t size) { return shmem_realloc(ptr, size); }
void shfree(void* ptr) { shmem_free(ptr); }
