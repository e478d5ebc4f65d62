/* OpenSHMEM for Lull.
 *
 * A drop-in <shmem.h>: names, types and meanings are those of the OpenSHMEM 1.5 specification (openshmem.org), which is
 * the reference for every function here. Present: set-up, the symmetric heap, put/get (blocking, non-blocking, single
 * elements), put with signal, atomics on the standard types, fence/quiet, barrier, point-to-point waits.
 *
 * How a PE waits is a setting, not a call: LULL_WAIT=poll|interrupt (`lull settings` lists them all). */
#ifndef LULL_SHMEM_H
#define LULL_SHMEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_API __attribute__((visibility("default")))

#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 5
#define SHMEM_MAX_NAME_LEN 64
#define SHMEM_VENDOR_STRING "Lull"
#define _SHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING SHMEM_VENDOR_STRING

enum { SHMEM_CMP_EQ = 1, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE };
enum { SHMEM_SIGNAL_SET = 1, SHMEM_SIGNAL_ADD };
enum { SHMEM_THREAD_SINGLE = 0, SHMEM_THREAD_FUNNELED, SHMEM_THREAD_SERIALIZED, SHMEM_THREAD_MULTIPLE };

/* The type tables of the specification: X(name in function names, C type). */
/* clang-format off */
#define LULL_RMA_TYPES(X)                                                                                          \
  X(float, float) X(double, double) X(longdouble, long double) X(char, char) X(schar, signed char) X(short, short) \
  X(int, int) X(long, long) X(longlong, long long) X(uchar, unsigned char) X(ushort, unsigned short)               \
  X(uint, unsigned int) X(ulong, unsigned long) X(ulonglong, unsigned long long) X(int8, int8_t)                   \
  X(int16, int16_t) X(int32, int32_t) X(int64, int64_t) X(uint8, uint8_t) X(uint16, uint16_t)                      \
  X(uint32, uint32_t) X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
#define LULL_AMO_TYPES(X)                                                                                          \
  X(int, int) X(long, long) X(longlong, long long) X(uint, unsigned int) X(ulong, unsigned long)                   \
  X(ulonglong, unsigned long long) X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)     \
  X(size, size_t) X(ptrdiff, ptrdiff_t)
#define LULL_BITWISE_TYPES(X)                                                                                      \
  X(uint, unsigned int) X(ulong, unsigned long) X(ulonglong, unsigned long long) X(int32, int32_t)                 \
  X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)
/* clang-format on */

/* Set-up and query */
LULL_API void shmem_init(void);
LULL_API int shmem_init_thread(int requested, int* provided); /* provides up to SHMEM_THREAD_SERIALIZED */
LULL_API void shmem_query_thread(int* provided);
LULL_API void shmem_finalize(void);
LULL_API void shmem_global_exit(int status);
LULL_API int shmem_my_pe(void);
LULL_API int shmem_n_pes(void);
LULL_API int shmem_pe_accessible(int pe);
LULL_API int shmem_addr_accessible(const void* addr, int pe);
LULL_API void* shmem_ptr(const void* dest, int pe);
LULL_API void shmem_info_get_version(int* major, int* minor);
LULL_API void shmem_info_get_name(char* name);

/* The symmetric heap; NULL when it is exhausted (SHMEM_SYMMETRIC_SIZE) */
LULL_API void* shmem_malloc(size_t size);
LULL_API void* shmem_calloc(size_t count, size_t size);
LULL_API void* shmem_align(size_t alignment, size_t size);
LULL_API void* shmem_realloc(void* ptr, size_t size);
LULL_API void shmem_free(void* ptr);

/* Remote memory access */
LULL_API void shmem_putmem(void* dest, const void* source, size_t nelems, int pe);
LULL_API void shmem_getmem(void* dest, const void* source, size_t nelems, int pe);
LULL_API void shmem_putmem_nbi(void* dest, const void* source, size_t nelems, int pe);
LULL_API void shmem_getmem_nbi(void* dest, const void* source, size_t nelems, int pe);
#define LULL_RMA(NAME, TYPE)                                                                   \
  LULL_API void shmem_##NAME##_put(TYPE* dest, const TYPE* source, size_t nelems, int pe);     \
  LULL_API void shmem_##NAME##_get(TYPE* dest, const TYPE* source, size_t nelems, int pe);     \
  LULL_API void shmem_##NAME##_put_nbi(TYPE* dest, const TYPE* source, size_t nelems, int pe); \
  LULL_API void shmem_##NAME##_get_nbi(TYPE* dest, const TYPE* source, size_t nelems, int pe); \
  LULL_API void shmem_##NAME##_p(TYPE* dest, TYPE value, int pe);                              \
  LULL_API TYPE shmem_##NAME##_g(const TYPE* source, int pe);
LULL_RMA_TYPES(LULL_RMA)
#undef LULL_RMA

/* Atomic memory operations */
#define LULL_AMO(NAME, TYPE)                                                                   \
  LULL_API TYPE shmem_##NAME##_atomic_fetch(const TYPE* source, int pe);                       \
  LULL_API void shmem_##NAME##_atomic_set(TYPE* dest, TYPE value, int pe);                     \
  LULL_API TYPE shmem_##NAME##_atomic_swap(TYPE* dest, TYPE value, int pe);                    \
  LULL_API TYPE shmem_##NAME##_atomic_compare_swap(TYPE* dest, TYPE cond, TYPE value, int pe); \
  LULL_API void shmem_##NAME##_atomic_add(TYPE* dest, TYPE value, int pe);                     \
  LULL_API void shmem_##NAME##_atomic_inc(TYPE* dest, int pe);                                 \
  LULL_API TYPE shmem_##NAME##_atomic_fetch_add(TYPE* dest, TYPE value, int pe);               \
  LULL_API TYPE shmem_##NAME##_atomic_fetch_inc(TYPE* dest, int pe);
LULL_AMO_TYPES(LULL_AMO)
#undef LULL_AMO
#define LULL_BITWISE(NAME, TYPE)                                                 \
  LULL_API void shmem_##NAME##_atomic_and(TYPE* dest, TYPE value, int pe);       \
  LULL_API void shmem_##NAME##_atomic_or(TYPE* dest, TYPE value, int pe);        \
  LULL_API void shmem_##NAME##_atomic_xor(TYPE* dest, TYPE value, int pe);       \
  LULL_API TYPE shmem_##NAME##_atomic_fetch_and(TYPE* dest, TYPE value, int pe); \
  LULL_API TYPE shmem_##NAME##_atomic_fetch_or(TYPE* dest, TYPE value, int pe);  \
  LULL_API TYPE shmem_##NAME##_atomic_fetch_xor(TYPE* dest, TYPE value, int pe);
LULL_BITWISE_TYPES(LULL_BITWISE)
#undef LULL_BITWISE

/* Signalled puts */
LULL_API void shmem_putmem_signal(void* dest, const void* source, size_t nelems, uint64_t* sig_addr, uint64_t signal,
                                  int sig_op, int pe);
LULL_API void shmem_putmem_signal_nbi(void* dest, const void* source, size_t nelems, uint64_t* sig_addr,
                                      uint64_t signal, int sig_op, int pe);
LULL_API uint64_t shmem_signal_fetch(const uint64_t* sig_addr);
LULL_API uint64_t shmem_signal_wait_until(uint64_t* sig_addr, int cmp, uint64_t cmp_value);

/* Waiting for a value in this PE's memory */
#define LULL_WAIT(NAME, TYPE)                                                   \
  LULL_API void shmem_##NAME##_wait_until(TYPE* ivar, int cmp, TYPE cmp_value); \
  LULL_API int shmem_##NAME##_test(TYPE* ivar, int cmp, TYPE cmp_value);
LULL_AMO_TYPES(LULL_WAIT)
#undef LULL_WAIT

/* Ordering and synchronisation */
LULL_API void shmem_fence(void);
LULL_API void shmem_quiet(void);
LULL_API void shmem_barrier_all(void);
LULL_API void shmem_sync_all(void);

#ifdef __cplusplus
}
#endif
#endif
