/* Names that OpenSHMEM 1.5 deprecates and programs still use. Included by shmem_functions.h, as that is: the constants
 * and the names without shmem_ once, the functions under each LULL_NAME. */
/* clang-format off */
#ifndef LULL_SHMEM_DEPRECATED_H
#define LULL_SHMEM_DEPRECATED_H

#define _SHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ SHMEM_CMP_EQ
#define _SHMEM_CMP_NE SHMEM_CMP_NE
#define _SHMEM_CMP_GT SHMEM_CMP_GT
#define _SHMEM_CMP_GE SHMEM_CMP_GE
#define _SHMEM_CMP_LT SHMEM_CMP_LT
#define _SHMEM_CMP_LE SHMEM_CMP_LE
#define _SHMEM_SYNC_VALUE SHMEM_SYNC_VALUE
#define _SHMEM_SYNC_SIZE SHMEM_SYNC_SIZE
#define _SHMEM_BARRIER_SYNC_SIZE SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_ALLTOALL_SYNC_SIZE SHMEM_ALLTOALL_SYNC_SIZE
#define _SHMEM_ALLTOALLS_SYNC_SIZE SHMEM_ALLTOALLS_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

/* Set-up and heap */
LULL_DEPRECATED_API void start_pes(int npes);
LULL_DEPRECATED_API int _my_pe(void);
LULL_DEPRECATED_API int _num_pes(void);
LULL_DEPRECATED_API void* shmalloc(size_t size);
LULL_DEPRECATED_API void* shmemalign(size_t alignment, size_t size);
LULL_DEPRECATED_API void* shrealloc(void* ptr, size_t size);
LULL_DEPRECATED_API void shfree(void* ptr);
#endif

/* Cache */
LULL_DEPRECATED_API void LULL_NAME(set_cache_inv)(void);
LULL_DEPRECATED_API void LULL_NAME(clear_cache_inv)(void);
LULL_DEPRECATED_API void LULL_NAME(set_cache_line_inv)(void* dest);
LULL_DEPRECATED_API void LULL_NAME(clear_cache_line_inv)(void* dest);
LULL_DEPRECATED_API void LULL_NAME(udcflush)(void);
LULL_DEPRECATED_API void LULL_NAME(udcflush_line)(void* dest);

/* Atomics under their old names */
#define LULL_OLD_READ_WRITE(NAME, TYPE, A) \
  LULL_DEPRECATED_API TYPE LULL_NAME(NAME##_fetch)(const TYPE* source, int pe); \
  LULL_DEPRECATED_API void LULL_NAME(NAME##_set)(TYPE* dest, TYPE value, int pe); \
  LULL_DEPRECATED_API TYPE LULL_NAME(NAME##_swap)(TYPE* dest, TYPE value, int pe);
LULL_EXTENDED_AMO_TYPES(LULL_OLD_READ_WRITE, )
#undef LULL_OLD_READ_WRITE
#define LULL_OLD_AMO(NAME, TYPE, A) \
  LULL_DEPRECATED_API TYPE LULL_NAME(NAME##_cswap)(TYPE* dest, TYPE cond, TYPE value, int pe); \
  LULL_DEPRECATED_API TYPE LULL_NAME(NAME##_finc)(TYPE* dest, int pe); \
  LULL_DEPRECATED_API TYPE LULL_NAME(NAME##_fadd)(TYPE* dest, TYPE value, int pe); \
  LULL_DEPRECATED_API void LULL_NAME(NAME##_inc)(TYPE* dest, int pe); \
  LULL_DEPRECATED_API void LULL_NAME(NAME##_add)(TYPE* dest, TYPE value, int pe);
LULL_AMO_TYPES(LULL_OLD_AMO, )
#undef LULL_OLD_AMO

/* Waiting until a variable is no longer `cmp_value`; shmem_wait_until is that of long */
#define LULL_OLD_WAIT(NAME, TYPE, A) LULL_DEPRECATED_API void LULL_NAME(NAME##_wait)(TYPE* ivar, TYPE cmp_value);
LULL_OLD_WAIT_TYPES(LULL_OLD_WAIT, )
#undef LULL_OLD_WAIT
LULL_DEPRECATED_API void LULL_NAME(wait)(long* ivar, long cmp_value);
LULL_DEPRECATED_API void LULL_NAME(wait_until)(long* ivar, int cmp, long cmp_value);

/* Collectives over active sets */
#define LULL_ACTIVE_SET int PE_start, int logPE_stride, int PE_size
LULL_DEPRECATED_API void LULL_NAME(barrier)(LULL_ACTIVE_SET, long* pSync);
LULL_DEPRECATED_API void LULL_NAME(sync)(LULL_ACTIVE_SET, long* pSync);
#define LULL_OLD_COLLECTIVES(SIZE) \
  LULL_DEPRECATED_API void LULL_NAME(broadcast##SIZE)(void* dest, const void* source, size_t nelems, int PE_root, \
                                                 LULL_ACTIVE_SET, long* pSync); \
  LULL_DEPRECATED_API void LULL_NAME(collect##SIZE)(void* dest, const void* source, size_t nelems, LULL_ACTIVE_SET, \
                                               long* pSync); \
  LULL_DEPRECATED_API void LULL_NAME(fcollect##SIZE)(void* dest, const void* source, size_t nelems, LULL_ACTIVE_SET, \
                                                long* pSync); \
  LULL_DEPRECATED_API void LULL_NAME(alltoall##SIZE)(void* dest, const void* source, size_t nelems, LULL_ACTIVE_SET, \
                                                long* pSync); \
  LULL_DEPRECATED_API void LULL_NAME(alltoalls##SIZE)(void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, \
                                                 size_t nelems, LULL_ACTIVE_SET, long* pSync);
LULL_OLD_COLLECTIVES(32)
LULL_OLD_COLLECTIVES(64)
#undef LULL_OLD_COLLECTIVES
#define LULL_TO_ALL(NAME, TYPE, OP) \
  LULL_DEPRECATED_API void LULL_NAME(NAME##_##OP##_to_all)(TYPE* dest, const TYPE* source, int nreduce, \
      LULL_ACTIVE_SET, \
                                                        TYPE* pWrk, long* pSync);
LULL_BITWISE_TO_ALL_TYPES(LULL_TO_ALL, and)
LULL_BITWISE_TO_ALL_TYPES(LULL_TO_ALL, or)
LULL_BITWISE_TO_ALL_TYPES(LULL_TO_ALL, xor)
LULL_COMPARE_TO_ALL_TYPES(LULL_TO_ALL, max)
LULL_COMPARE_TO_ALL_TYPES(LULL_TO_ALL, min)
LULL_ARITHMETIC_TO_ALL_TYPES(LULL_TO_ALL, sum)
LULL_ARITHMETIC_TO_ALL_TYPES(LULL_TO_ALL, prod)
#undef LULL_TO_ALL
#undef LULL_ACTIVE_SET

/* clang-format on */
