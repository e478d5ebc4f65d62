/* What Lull adds to OpenSHMEM, under the prefix the specification reserves for that. */
#ifndef LULL_SHMEMX_H
#define LULL_SHMEMX_H

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the calling PE has waited since shmem_init(). */
typedef struct {
  uint64_t waits;    /* waits that were not over at once */
  uint64_t sleeps;   /* times it gave up its core until woken */
  uint64_t timeouts; /* sleeps that ended by themselves (LULL_WAIT_TIMEOUT_MS) */
  uint64_t missed;   /* of these, such that found what they waited for: a wake-up nobody sent */
  int64_t ns_waited; /* nanoseconds in waits */
  int64_t ns_asleep; /* of these, asleep */
} shmemx_wait_stats_t;

LULL_API void shmemx_wait_stats(shmemx_wait_stats_t* stats);

/* The emulated or real node of a PE, 0 ≤ node < shmemx_n_nodes(). PEs of one node share memory. */
LULL_API int shmemx_n_nodes(void);
LULL_API int shmemx_node_of(int pe);

/* Nonzero when PEs outnumber the cores they may use on this host. */
LULL_API int shmemx_oversubscribed(void);

#ifdef __cplusplus
}
#endif
#endif
