/* The functions of OpenSHMEM 1.5: one declaration of each, for shmem.h (shmem_putmem) and pshmem.h (pshmem_putmem).
 *
 * Included inside extern "C", with LULL_NAME(putmem) defined as the whole name. */

/* Set-up and query */
LULL_API void LULL_NAME(init)(void);
LULL_API int LULL_NAME(init_thread)(int requested, int* provided);
LULL_API void LULL_NAME(query_thread)(int* provided);
LULL_API void LULL_NAME(finalize)(void);
LULL_API void LULL_NAME(global_exit)(int status);
LULL_API int LULL_NAME(my_pe)(void);
LULL_API int LULL_NAME(n_pes)(void);
LULL_API int LULL_NAME(pe_accessible)(int pe);
LULL_API int LULL_NAME(addr_accessible)(const void* addr, int pe);
LULL_API void* LULL_NAME(ptr)(const void* dest, int pe);
LULL_API void LULL_NAME(info_get_version)(int* major, int* minor);
LULL_API void LULL_NAME(info_get_name)(char* name);
LULL_API void LULL_NAME(pcontrol)(int level, ...); /* 0: LULL_STATS stops counting, 1: goes on, 2: anew */

/* The symmetric heap; NULL when it is exhausted (SHMEM_SYMMETRIC_SIZE) */
LULL_API void* LULL_NAME(malloc)(size_t size);
LULL_API void* LULL_NAME(malloc_with_hints)(size_t size, long hints);
LULL_API void* LULL_NAME(calloc)(size_t count, size_t size);
LULL_API void* LULL_NAME(align)(size_t alignment, size_t size);
LULL_API void* LULL_NAME(realloc)(void* ptr, size_t size);
LULL_API void LULL_NAME(free)(void* ptr);

/* Teams */
LULL_API int LULL_NAME(team_my_pe)(shmem_team_t team);
LULL_API int LULL_NAME(team_n_pes)(shmem_team_t team);
LULL_API int LULL_NAME(team_get_config)(shmem_team_t team, long config_mask, shmem_team_config_t* config);
LULL_API int LULL_NAME(team_translate_pe)(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);
LULL_API int LULL_NAME(team_split_strided)(shmem_team_t parent_team, int start, int stride, int size,
                                           const shmem_team_config_t* config, long config_mask, shmem_team_t* new_team);
LULL_API int LULL_NAME(team_split_2d)(shmem_team_t parent_team, int xrange, const shmem_team_config_t* xaxis_config,
                                      long xaxis_mask, shmem_team_t* xaxis_team,
                                      const shmem_team_config_t* yaxis_config, long yaxis_mask,
                                      shmem_team_t* yaxis_team);
LULL_API void LULL_NAME(team_destroy)(shmem_team_t team);

/* Communication contexts */
LULL_API int LULL_NAME(ctx_create)(long options, shmem_ctx_t* ctx);
LULL_API int LULL_NAME(team_create_ctx)(shmem_team_t team, long options, shmem_ctx_t* ctx);
LULL_API void LULL_NAME(ctx_destroy)(shmem_ctx_t ctx);
LULL_API int LULL_NAME(ctx_get_team)(shmem_ctx_t ctx, shmem_team_t* team);

/* Remote memory access: blocking, non-blocking, strided, single elements, with a signal */
/* clang-format off */
#define LULL_RMA(PUT, GET, ELEMENT) \
  LULL_API void LULL_NAME(PUT)(ELEMENT* dest, const ELEMENT* source, size_t nelems, int pe); \
  LULL_API void LULL_NAME(GET)(ELEMENT* dest, const ELEMENT* source, size_t nelems, int pe); \
  LULL_API void LULL_NAME(PUT##_nbi)(ELEMENT* dest, const ELEMENT* source, size_t nelems, int pe); \
  LULL_API void LULL_NAME(GET##_nbi)(ELEMENT* dest, const ELEMENT* source, size_t nelems, int pe); \
  LULL_API void LULL_NAME(ctx_##PUT)(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, size_t nelems, int pe); \
  LULL_API void LULL_NAME(ctx_##GET)(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, size_t nelems, int pe); \
  LULL_API void LULL_NAME(ctx_##PUT##_nbi)(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, \
      size_t nelems, int pe); \
  LULL_API void LULL_NAME(ctx_##GET##_nbi)(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, \
      size_t nelems, int pe); \
  LULL_API void LULL_NAME(PUT##_signal)(ELEMENT* dest, const ELEMENT* source, size_t nelems, uint64_t* sig_addr, \
                                     uint64_t signal, int sig_op, int pe); \
  LULL_API void LULL_NAME(PUT##_signal_nbi)(ELEMENT* dest, const ELEMENT* source, size_t nelems, uint64_t* sig_addr, \
                                         uint64_t signal, int sig_op, int pe); \
  LULL_API void LULL_NAME(ctx_##PUT##_signal)(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, size_t nelems, \
                                         uint64_t* sig_addr, uint64_t signal, int sig_op, int pe); \
  LULL_API void LULL_NAME(ctx_##PUT##_signal_nbi)(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, \
      size_t nelems, \
                                             uint64_t* sig_addr, uint64_t signal, int sig_op, int pe);
#define LULL_STRIDED(IPUT, IGET, ELEMENT) \
  LULL_API void LULL_NAME(IPUT)(ELEMENT* dest, const ELEMENT* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                             int pe); \
  LULL_API void LULL_NAME(IGET)(ELEMENT* dest, const ELEMENT* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                             int pe); \
  LULL_API void LULL_NAME(ctx_##IPUT)(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, ptrdiff_t dst, \
      ptrdiff_t sst, \
                                 size_t nelems, int pe); \
  LULL_API void LULL_NAME(ctx_##IGET)(shmem_ctx_t ctx, ELEMENT* dest, const ELEMENT* source, ptrdiff_t dst, \
      ptrdiff_t sst, \
                                 size_t nelems, int pe);
#define LULL_ELEMENT(NAME, TYPE) \
  LULL_API void LULL_NAME(NAME##_p)(TYPE* dest, TYPE value, int pe); \
  LULL_API TYPE LULL_NAME(NAME##_g)(const TYPE* source, int pe); \
  LULL_API void LULL_NAME(ctx_##NAME##_p)(shmem_ctx_t ctx, TYPE* dest, TYPE value, int pe); \
  LULL_API TYPE LULL_NAME(ctx_##NAME##_g)(shmem_ctx_t ctx, const TYPE* source, int pe);
#define LULL_OF_TYPE(NAME, TYPE, A) \
  LULL_RMA(NAME##_put, NAME##_get, TYPE) LULL_STRIDED(NAME##_iput, NAME##_iget, TYPE) LULL_ELEMENT(NAME, TYPE)
LULL_RMA_TYPES(LULL_OF_TYPE, )
LULL_RMA(putmem, getmem, void)
#undef LULL_OF_TYPE
#undef LULL_ELEMENT
/* Elements of 8 to 128 bits: shmem_put8(), shmem_get8_nbi(), shmem_put8_signal(), shmem_iput8() ... */
#define LULL_SIZED(SIZE) LULL_RMA(put##SIZE, get##SIZE, void) LULL_STRIDED(iput##SIZE, iget##SIZE, void)
LULL_SIZES(LULL_SIZED)
#undef LULL_SIZED
#undef LULL_RMA
#undef LULL_STRIDED

/* Atomic memory operations */
#define LULL_AMO_READ_WRITE(NAME, TYPE, A) \
  LULL_API TYPE LULL_NAME(NAME##_atomic_fetch)(const TYPE* source, int pe); \
  LULL_API void LULL_NAME(NAME##_atomic_set)(TYPE* dest, TYPE value, int pe); \
  LULL_API TYPE LULL_NAME(NAME##_atomic_swap)(TYPE* dest, TYPE value, int pe); \
  LULL_API void LULL_NAME(NAME##_atomic_fetch_nbi)(TYPE* fetch, const TYPE* source, int pe); \
  LULL_API void LULL_NAME(NAME##_atomic_swap_nbi)(TYPE* fetch, TYPE* dest, TYPE value, int pe); \
  LULL_API TYPE LULL_NAME(ctx_##NAME##_atomic_fetch)(shmem_ctx_t ctx, const TYPE* source, int pe); \
  LULL_API void LULL_NAME(ctx_##NAME##_atomic_set)(shmem_ctx_t ctx, TYPE* dest, TYPE value, int pe); \
  LULL_API TYPE LULL_NAME(ctx_##NAME##_atomic_swap)(shmem_ctx_t ctx, TYPE* dest, TYPE value, int pe); \
  LULL_API void LULL_NAME(ctx_##NAME##_atomic_fetch_nbi)(shmem_ctx_t ctx, TYPE* fetch, const TYPE* source, int pe); \
  LULL_API void LULL_NAME(ctx_##NAME##_atomic_swap_nbi)(shmem_ctx_t ctx, TYPE* fetch, TYPE* dest, TYPE value, int pe);
LULL_EXTENDED_AMO_TYPES(LULL_AMO_READ_WRITE, )
#undef LULL_AMO_READ_WRITE
#define LULL_AMO(NAME, TYPE, A) \
  LULL_API TYPE LULL_NAME(NAME##_atomic_compare_swap)(TYPE* dest, TYPE cond, TYPE value, int pe); \
  LULL_API TYPE LULL_NAME(NAME##_atomic_fetch_inc)(TYPE* dest, int pe); \
  LULL_API TYPE LULL_NAME(NAME##_atomic_fetch_add)(TYPE* dest, TYPE value, int pe); \
  LULL_API void LULL_NAME(NAME##_atomic_inc)(TYPE* dest, int pe); \
  LULL_API void LULL_NAME(NAME##_atomic_add)(TYPE* dest, TYPE value, int pe); \
  LULL_API void LULL_NAME(NAME##_atomic_compare_swap_nbi)(TYPE* fetch, TYPE* dest, TYPE cond, TYPE value, int pe); \
  LULL_API void LULL_NAME(NAME##_atomic_fetch_inc_nbi)(TYPE* fetch, TYPE* dest, int pe); \
  LULL_API void LULL_NAME(NAME##_atomic_fetch_add_nbi)(TYPE* fetch, TYPE* dest, TYPE value, int pe); \
  LULL_API TYPE LULL_NAME(ctx_##NAME##_atomic_compare_swap)(shmem_ctx_t ctx, TYPE* dest, TYPE cond, TYPE value, \
      int pe); \
  LULL_API TYPE LULL_NAME(ctx_##NAME##_atomic_fetch_inc)(shmem_ctx_t ctx, TYPE* dest, int pe); \
  LULL_API TYPE LULL_NAME(ctx_##NAME##_atomic_fetch_add)(shmem_ctx_t ctx, TYPE* dest, TYPE value, int pe); \
  LULL_API void LULL_NAME(ctx_##NAME##_atomic_inc)(shmem_ctx_t ctx, TYPE* dest, int pe); \
  LULL_API void LULL_NAME(ctx_##NAME##_atomic_add)(shmem_ctx_t ctx, TYPE* dest, TYPE value, int pe); \
  LULL_API void LULL_NAME(ctx_##NAME##_atomic_compare_swap_nbi)(shmem_ctx_t ctx, TYPE* fetch, TYPE* dest, TYPE cond, \
                                                           TYPE value, int pe); \
  LULL_API void LULL_NAME(ctx_##NAME##_atomic_fetch_inc_nbi)(shmem_ctx_t ctx, TYPE* fetch, TYPE* dest, int pe); \
  LULL_API void LULL_NAME(ctx_##NAME##_atomic_fetch_add_nbi)(shmem_ctx_t ctx, TYPE* fetch, TYPE* dest, \
      TYPE value, int pe);
LULL_AMO_TYPES(LULL_AMO, )
#undef LULL_AMO
#define LULL_BITWISE_OF(NAME, TYPE, OP) \
  LULL_API void LULL_NAME(NAME##_atomic_##OP)(TYPE* dest, TYPE value, int pe); \
  LULL_API TYPE LULL_NAME(NAME##_atomic_fetch_##OP)(TYPE* dest, TYPE value, int pe); \
  LULL_API void LULL_NAME(NAME##_atomic_fetch_##OP##_nbi)(TYPE* fetch, TYPE* dest, TYPE value, int pe); \
  LULL_API void LULL_NAME(ctx_##NAME##_atomic_##OP)(shmem_ctx_t ctx, TYPE* dest, TYPE value, int pe); \
  LULL_API TYPE LULL_NAME(ctx_##NAME##_atomic_fetch_##OP)(shmem_ctx_t ctx, TYPE* dest, TYPE value, int pe); \
  LULL_API void LULL_NAME(ctx_##NAME##_atomic_fetch_##OP##_nbi)(shmem_ctx_t ctx, TYPE* fetch, TYPE* dest, \
      TYPE value, int pe);
#define LULL_BITWISE(NAME, TYPE, A) \
  LULL_BITWISE_OF(NAME, TYPE, and) LULL_BITWISE_OF(NAME, TYPE, or) LULL_BITWISE_OF(NAME, TYPE, xor)
LULL_BITWISE_TYPES(LULL_BITWISE, )
#undef LULL_BITWISE
#undef LULL_BITWISE_OF

/* Signals */
LULL_API uint64_t LULL_NAME(signal_fetch)(const uint64_t* sig_addr);
LULL_API uint64_t LULL_NAME(signal_wait_until)(uint64_t* sig_addr, int cmp, uint64_t cmp_value);

/* Waiting for values in this PE's memory. any returns an index, SIZE_MAX for none; some returns how many indices */
#define LULL_WAIT(NAME, TYPE, A) \
  LULL_API void LULL_NAME(NAME##_wait_until)(TYPE* ivar, int cmp, TYPE cmp_value); \
  LULL_API void LULL_NAME(NAME##_wait_until_all)(TYPE* ivars, size_t nelems, const int* status, int cmp, \
      TYPE cmp_value); \
  LULL_API size_t LULL_NAME(NAME##_wait_until_any)(TYPE* ivars, size_t nelems, const int* status, int cmp, \
      TYPE cmp_value); \
  LULL_API size_t LULL_NAME(NAME##_wait_until_some)(TYPE* ivars, size_t nelems, size_t* indices, const int* status, \
                                                 int cmp, TYPE cmp_value); \
  LULL_API void LULL_NAME(NAME##_wait_until_all_vector)(TYPE* ivars, size_t nelems, const int* status, int cmp, \
                                                     TYPE* cmp_values); \
  LULL_API size_t LULL_NAME(NAME##_wait_until_any_vector)(TYPE* ivars, size_t nelems, const int* status, int cmp, \
                                                       TYPE* cmp_values); \
  LULL_API size_t LULL_NAME(NAME##_wait_until_some_vector)(TYPE* ivars, size_t nelems, size_t* indices, \
                                                        const int* status, int cmp, TYPE* cmp_values); \
  LULL_API int LULL_NAME(NAME##_test)(TYPE* ivar, int cmp, TYPE cmp_value); \
  LULL_API int LULL_NAME(NAME##_test_all)(TYPE* ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value); \
  LULL_API size_t LULL_NAME(NAME##_test_any)(TYPE* ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value); \
  LULL_API size_t LULL_NAME(NAME##_test_some)(TYPE* ivars, size_t nelems, size_t* indices, const int* status, int cmp, \
                                           TYPE cmp_value); \
  LULL_API int LULL_NAME(NAME##_test_all_vector)(TYPE* ivars, size_t nelems, const int* status, int cmp, \
                                              TYPE* cmp_values); \
  LULL_API size_t LULL_NAME(NAME##_test_any_vector)(TYPE* ivars, size_t nelems, const int* status, int cmp, \
                                                 TYPE* cmp_values); \
  LULL_API size_t LULL_NAME(NAME##_test_some_vector)(TYPE* ivars, size_t nelems, size_t* indices, const int* status, \
                                                  int cmp, TYPE* cmp_values);
LULL_WAIT_TYPES(LULL_WAIT, )
#undef LULL_WAIT

/* Ordering */
LULL_API void LULL_NAME(fence)(void);
LULL_API void LULL_NAME(quiet)(void);
LULL_API void LULL_NAME(ctx_fence)(shmem_ctx_t ctx);
LULL_API void LULL_NAME(ctx_quiet)(shmem_ctx_t ctx);

/* Collectives over teams; 0 on success */
LULL_API void LULL_NAME(barrier_all)(void);
LULL_API void LULL_NAME(sync_all)(void);
LULL_API int LULL_NAME(team_sync)(shmem_team_t team);
#define LULL_COLLECTIVES(BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS, ELEMENT) \
  LULL_API int LULL_NAME(BROADCAST)(shmem_team_t team, ELEMENT* dest, const ELEMENT* source, size_t nelems, \
      int PE_root); \
  LULL_API int LULL_NAME(COLLECT)(shmem_team_t team, ELEMENT* dest, const ELEMENT* source, size_t nelems); \
  LULL_API int LULL_NAME(FCOLLECT)(shmem_team_t team, ELEMENT* dest, const ELEMENT* source, size_t nelems); \
  LULL_API int LULL_NAME(ALLTOALL)(shmem_team_t team, ELEMENT* dest, const ELEMENT* source, size_t nelems); \
  LULL_API int LULL_NAME(ALLTOALLS)(shmem_team_t team, ELEMENT* dest, const ELEMENT* source, ptrdiff_t dst, \
                                 ptrdiff_t sst, size_t nelems);
#define LULL_COLLECTIVES_OF_TYPE(NAME, TYPE, A) \
  LULL_COLLECTIVES(NAME##_broadcast, NAME##_collect, NAME##_fcollect, NAME##_alltoall, NAME##_alltoalls, TYPE)
LULL_RMA_TYPES(LULL_COLLECTIVES_OF_TYPE, )
LULL_COLLECTIVES(broadcastmem, collectmem, fcollectmem, alltoallmem, alltoallsmem, void)
#undef LULL_COLLECTIVES_OF_TYPE
#undef LULL_COLLECTIVES
#define LULL_REDUCE(NAME, TYPE, OP) \
  LULL_API int LULL_NAME(NAME##_##OP##_reduce)(shmem_team_t team, TYPE* dest, const TYPE* source, size_t nreduce);
LULL_BITWISE_REDUCE_TYPES(LULL_REDUCE, and)
LULL_BITWISE_REDUCE_TYPES(LULL_REDUCE, or)
LULL_BITWISE_REDUCE_TYPES(LULL_REDUCE, xor)
LULL_COMPARE_REDUCE_TYPES(LULL_REDUCE, max)
LULL_COMPARE_REDUCE_TYPES(LULL_REDUCE, min)
LULL_ARITHMETIC_REDUCE_TYPES(LULL_REDUCE, sum)
LULL_ARITHMETIC_REDUCE_TYPES(LULL_REDUCE, prod)
#undef LULL_REDUCE

/* Locks: a symmetric long, at first 0 */
LULL_API void LULL_NAME(set_lock)(long* lock);
LULL_API void LULL_NAME(clear_lock)(long* lock);
LULL_API int LULL_NAME(test_lock)(long* lock);

#include <lull/shmem_deprecated.h>
/* clang-format on */
