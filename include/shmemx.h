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

/* Accumulate, after ARMCI: dest[i] += *scale * source[i] in the memory of `pe`, each element once and whole whoever
 * else accumulates there. Complete at shmem_quiet; source and scale may be reused on return. */
/* clang-format off */
#define LULL_ACCUMULATE(NAME, TYPE, A)                                                                                \
  LULL_API void shmemx_##NAME##_accumulate(TYPE* dest, const TYPE* source, size_t nelems, const TYPE* scale, int pe); \
  LULL_API void shmemx_##NAME##_accumulate_strided(TYPE* dest, const ptrdiff_t dest_strides[], const TYPE* source,    \
                                                   const ptrdiff_t source_strides[], const size_t counts[],           \
                                                   int levels, const TYPE* scale, int pe);
LULL_ACCUMULATE_TYPES(LULL_ACCUMULATE, )
#undef LULL_ACCUMULATE
/* clang-format on */

/* Strided blocks of several dimensions: counts[0] bytes stand together; level l, from 1 to `levels` (at most 8),
 * repeats the level below counts[l] times, strides[l - 1] bytes apart. They travel packed, in as few messages as
 * possible, and are put in place by the progress thread of the target. A put completes at shmem_quiet and its source may be
 * reused on return; a get has arrived on return. */
LULL_API void shmemx_put_strided(void* dest, const ptrdiff_t dest_strides[], const void* source,
                                 const ptrdiff_t source_strides[], const size_t counts[], int levels, int pe);
LULL_API void shmemx_get_strided(void* dest, const ptrdiff_t dest_strides[], const void* source,
                                 const ptrdiff_t source_strides[], const size_t counts[], int levels, int pe);

/* Pieces of one size at any places: dest[i] in the memory of `pe` for a put, in that of the caller for a get. */
LULL_API void shmemx_put_vector(void* const dest[], const void* const source[], size_t npieces, size_t bytes, int pe);
LULL_API void shmemx_get_vector(void* const dest[], const void* const source[], size_t npieces, size_t bytes, int pe);

/* How waits on operations of a context are spent, as a value of LULL_WAIT; NULL: as the PE's. 0 on success, nonzero for
 * an unknown name. SHMEM_CTX_DEFAULT is a context too. */
LULL_API int shmemx_ctx_set_wait(shmem_ctx_t ctx, const char* policy);

/* What is rewritten in the puts of a context, as a value of LULL_TRANSFORM; NULL: as that says. 0 on success, nonzero
 * for an unknown name. Not while puts of that context are under way in another thread. */
LULL_API int shmemx_ctx_set_transform(shmem_ctx_t ctx, const char* how);

/* What has been rewritten in the calling PE's puts to other nodes since shmem_init(). */
typedef struct {
  uint64_t coalesced_puts;  /* that left in a message with others */
  uint64_t coalesced_bytes; /* of them */
  uint64_t messages;        /* in which they left */
  uint64_t late;            /* of these, such that left by their deadline (LULL_COALESCE_US) */
  uint64_t copied_puts;     /* blocking ones whose source was copied */
  uint64_t copied_bytes;
} shmemx_transform_stats_t;

LULL_API void shmemx_transform_stats(shmemx_transform_stats_t* stats);

#ifdef __cplusplus
}

/* The same with std::complex; above it is C's type. */
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
