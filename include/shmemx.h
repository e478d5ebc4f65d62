/* What Lull adds to OpenSHMEM, under the prefix the specification reserves for that. */
#ifndef LULL_SHMEMX_H
#define LULL_SHMEMX_H

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts of the waits of the calling PE since shmem_init(). */
typedef struct {
  uint64_t waits;    /* waits whose condition did not hold at once */
  uint64_t sleeps;   /* times the PE gave up its core until a wake-up */
  uint64_t timeouts; /* sleeps that timed out (LULL_WAIT_TIMEOUT_MS) */
  uint64_t missed;   /* of these, sleeps whose condition held already: missed wake-ups */
  int64_t ns_waited; /* nanoseconds in waits */
  int64_t ns_asleep; /* of these, nanoseconds asleep */
} shmemx_wait_stats_t;

LULL_API void shmemx_wait_stats(shmemx_wait_stats_t* stats);

/* The number of nodes, and the node of a PE, 0 ≤ node < shmemx_n_nodes(). PEs of one node share memory. Under LULL_NODES
 * nodes are emulated. */
LULL_API int shmemx_n_nodes(void);
LULL_API int shmemx_node_of(int pe);

/* Nonzero if this host has more PEs than cores that they may use. */
LULL_API int shmemx_oversubscribed(void);

/* Accumulate, as in ARMCI: dest[i] += *scale * source[i] in the memory of `pe`. Atomic for each element with respect to
 * other accumulates. Complete after shmem_quiet(); source and scale may be reused on return. */
/* clang-format off */
#define LULL_ACCUMULATE(NAME, TYPE, A)                                                                                \
  LULL_API void shmemx_##NAME##_accumulate(TYPE* dest, const TYPE* source, size_t nelems, const TYPE* scale, int pe); \
  LULL_API void shmemx_##NAME##_accumulate_strided(TYPE* dest, const ptrdiff_t dest_strides[], const TYPE* source,    \
                                                   const ptrdiff_t source_strides[], const size_t counts[],           \
                                                   int levels, const TYPE* scale, int pe);
LULL_ACCUMULATE_TYPES(LULL_ACCUMULATE, )
#undef LULL_ACCUMULATE
/* clang-format on */

/* Puts and gets of strided blocks of several dimensions. counts[0] bytes are contiguous; level l, from 1 to `levels` (at
 * most 8), repeats the level below counts[l] times, strides[l - 1] bytes apart. Blocks travel packed, in as few messages
 * as possible; the progress thread of the target unpacks them. A put is complete after shmem_quiet(), and its source may
 * be reused on return; a get is complete on return. */
LULL_API void shmemx_put_strided(void* dest, const ptrdiff_t dest_strides[], const void* source,
                                 const ptrdiff_t source_strides[], const size_t counts[], int levels, int pe);
LULL_API void shmemx_get_strided(void* dest, const ptrdiff_t dest_strides[], const void* source,
                                 const ptrdiff_t source_strides[], const size_t counts[], int levels, int pe);

/* Puts and gets of `nblocks` blocks of `bytes` bytes each, at any addresses: dest[i] is in the memory of `pe` for a put,
 * source[i] for a get. */
LULL_API void shmemx_put_vector(void* const dest[], const void* const source[], size_t nblocks, size_t bytes, int pe);
LULL_API void shmemx_get_vector(void* const dest[], const void* const source[], size_t nblocks, size_t bytes, int pe);

/* Sets the wait policy for operations of a context, a value of LULL_WAIT; NULL: that of the PE. SHMEM_CTX_DEFAULT is
 * allowed. Returns 0, or nonzero for an unknown name. */
LULL_API int shmemx_ctx_set_wait(shmem_ctx_t ctx, const char* policy);

/* Sets how puts of a context are transformed, a value of LULL_TRANSFORM; NULL: as that setting says. Returns 0, or nonzero
 * for an unknown name. No other thread may use the context for puts during the call. */
LULL_API int shmemx_ctx_set_transform(shmem_ctx_t ctx, const char* how);

/* Counts of the transformed puts of the calling PE to other nodes since shmem_init(). */
typedef struct {
  uint64_t coalesced_puts;  /* puts that shared a message with others */
  uint64_t coalesced_bytes; /* of these puts */
  uint64_t messages;        /* that carried them */
  uint64_t late;            /* of these, messages sent at their deadline (LULL_COALESCE_US) */
  uint64_t copied_puts;     /* blocking puts that returned after a copy of their source */
  uint64_t copied_bytes;    /* of these puts */
} shmemx_transform_stats_t;

LULL_API void shmemx_transform_stats(shmemx_transform_stats_t* stats);

#ifdef __cplusplus
}

/* The same for std::complex; the functions above take C's type. */
extern "C++" {
#define LULL_ACCUMULATE(NAME, TYPE)                                                                                    \
  inline void shmemx_##NAME##_accumulate(TYPE* dest, const TYPE* source, size_t nelems, const TYPE* scale, int pe) {   \
    shmemx_##NAME##_accumulate(lull_as_in_c(dest), lull_as_in_c(source), nelems, lull_as_in_c(scale), pe);             \
  }                                                                                                                    \
  inline void shmemx_##NAME##_accumulate_strided(TYPE* dest, const ptrdiff_t dest_strides[], const TYPE* source,       \
                                                 const ptrdiff_t source_strides[], const size_t counts[], int levels,  \
                                                 const TYPE* scale, int pe) {                                          \
    shmemx_##NAME##_accumulate_strided(lull_as_in_c(dest), dest_strides, lull_as_in_c(source), source_strides, counts, \
                                       levels, lull_as_in_c(scale), pe);                                               \
  }
LULL_ACCUMULATE(complexf, std::complex<float>)
LULL_ACCUMULATE(complexd, std::complex<double>)
#undef LULL_ACCUMULATE
}
#endif
#endif
