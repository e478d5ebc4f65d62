// Deprecated names do what those do that replaced them; an old program needs no shmem_finalize. The functions for caches
// change nothing.
#include "check.hpp"

namespace {

void heap_under_old_names() {
  auto* const area = static_cast<long*>(shmalloc(4 * sizeof(long)));
  CHECK(area != nullptr && shmem_addr_accessible(area, 0) == 1);
  area[3] = 7;
  auto* const larger = static_cast<long*>(shrealloc(area, 4096 * sizeof(long)));
  CHECK(larger != nullptr && larger[3] == 7);
  auto* const aligned = static_cast<char*>(shmemalign(4096, 100));
  CHECK(aligned != nullptr && reinterpret_cast<std::uintptr_t>(aligned) % 4096 == 0);
  shfree(aligned);
  shfree(larger);
}

#define WAITS(NAME, TYPE, A)               \
  {                                        \
    auto* const cell = symmetric<TYPE>(1); \
    shmem_##NAME##_p(cell, 5, r.next);     \
    shmem_##NAME##_wait(cell, 0);          \
    CHECK(*cell == 5);                     \
    shmem_barrier_all();                   \
    shmem_free(cell);                      \
  }
void waits_for_a_change(const ring& r) {
  LULL_OLD_WAIT_TYPES(WAITS, )
  auto* const cell = symmetric<long>(1);
  shmem_long_p(cell, 1, r.next);
  shmem_wait(cell, 0);
  shmem_wait_until(cell, SHMEM_CMP_EQ, 1);
  shmem_barrier_all();
  shmem_free(cell);
}

void caches_stay_coherent(const ring& r) {
  auto* const cell = symmetric<long>(1);
  shmem_set_cache_inv();
  shmem_set_cache_line_inv(cell);
  shmem_long_p(cell, r.me + 1, r.next);
  shmem_barrier_all();
  shmem_udcflush();
  shmem_udcflush_line(cell);
  shmem_clear_cache_line_inv(cell);
  shmem_clear_cache_inv();
  CHECK(*cell == r.before + 1);
  shmem_barrier_all();
  shmem_free(cell);
}

}  // namespace

int main() {
  start_pes(0);
  start_pes(77);  // a second call, and its argument, have no effect
  const ring r;
  CHECK(_my_pe() == r.me && _num_pes() == r.pes);
  heap_under_old_names();
  waits_for_a_change(r);
  caches_stay_coherent(r);
  shmem_init();  // a newer library in an old program
  finish();
  int initialised = 0;
  shmem_query_initialized(&initialised);
  return initialised != 0 ? 0 : 1;  // until the program exits
}
