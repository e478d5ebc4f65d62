// A check that names the PE, and ends the whole job when it does not hold.
#pragma once
#include <shmem.h>

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
