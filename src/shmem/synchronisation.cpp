// Ordering, barriers, and waiting for a value: all waiting itself is in fabric/wait/.
#include <atomic>

#include "fabric/team.hpp"
#include "shmem.h"
#include "shmem/current.hpp"

using lull::fabric::operation;
using lull::shmem::here;

namespace {

template <class T>
bool holds(T* variable, int comparison, T value) {
  const T now = std::atomic_ref<T>(*variable).load(std::memory_order_acquire);
  switch (comparison) {
    case SHMEM_CMP_EQ:
      return now == value;
    case SHMEM_CMP_NE:
      return now != value;
    case SHMEM_CMP_GT:
      return now > value;
    case SHMEM_CMP_GE:
      return now >= value;
    case SHMEM_CMP_LT:
      return now < value;
    default:
      return now <= value;
  }
}

}  // namespace

#define LULL_WAIT(NAME, TYPE)                                                      \
  void shmem_##NAME##_wait_until(TYPE* ivar, int cmp, TYPE value) {                \
    here("shmem_" #NAME "_wait_until").wait().until({operation::wait_until}, [&] { \
      return holds<TYPE>(ivar, cmp, value);                                        \
    });                                                                            \
  }                                                                                \
  int shmem_##NAME##_test(TYPE* ivar, int cmp, TYPE value) {                       \
    auto& world = here("shmem_" #NAME "_test");                                    \
    if (holds<TYPE>(ivar, cmp, value)) return 1;                                   \
    world.drive();                                                                 \
    return holds<TYPE>(ivar, cmp, value) ? 1 : 0;                                  \
  }
LULL_AMO_TYPES(LULL_WAIT)

uint64_t shmem_signal_fetch(const uint64_t* sig_addr) {
  return std::atomic_ref<uint64_t>(*const_cast<uint64_t*>(sig_addr)).load(std::memory_order_acquire);
}

uint64_t shmem_signal_wait_until(uint64_t* sig_addr, int cmp, uint64_t value) {
  shmem_uint64_wait_until(sig_addr, cmp, value);
  return shmem_signal_fetch(sig_addr);
}

void shmem_fence() { here("shmem_fence").fence(here("shmem_fence").default_context()); }
void shmem_quiet() { here("shmem_quiet").quiet(here("shmem_quiet").default_context()); }
void shmem_sync_all() { here("shmem_sync_all").everybody().sync(); }
void shmem_barrier_all() {
  auto& world = here("shmem_barrier_all");
  world.quiet(world.default_context());
  world.everybody().sync();
}
