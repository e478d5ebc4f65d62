// A check that names the PE and ends the whole job if it fails, and helpers for nearly every program here.
#pragma once
#include <shmemx.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                                   \
  do {                                                                                                     \
    if (!(condition)) {                                                                                    \
      std::fprintf(stderr, "%s:%d: PE %d: not true: %s\n", __FILE__, __LINE__, shmem_my_pe(), #condition); \
      shmem_global_exit(1);                                                                                \
    }                                                                                                      \
  } while (false)

// This PE and its neighbours in a ring of all PEs.
struct ring {
  int me = shmem_my_pe(), pes = shmem_n_pes();
  int next = (me + 1) % pes, before = (me + pes - 1) % pes;
};

// Zeroed symmetric memory for `count` objects.
template <class T>
T* symmetric(std::size_t count) {
  auto* const memory = static_cast<T*>(shmem_calloc(count, sizeof(T)));
  CHECK(memory != nullptr);
  return memory;
}

// Ends a program: no time-out of a sleep may have replaced a wake-up.
inline void finish() {
  shmemx_wait_stats_t stats;
  shmemx_wait_stats(&stats);
  CHECK(stats.missed == 0);
  shmem_finalize();
}
