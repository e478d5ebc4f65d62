/* The type-generic names of OpenSHMEM in C11: shmem_put(x, y, n, pe) chooses by the type x points to. Included by
 * shmem.h.
 *
 * A call with one argument more than the plain form has a context in front. A type that the specification does not name
 * is an error when compiling. */
#ifndef LULL_SHMEM_GENERIC_H
#define LULL_SHMEM_GENERIC_H

/* clang-format off */
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((error("OpenSHMEM has no such operation for this type")))
#endif
void lull_no_such_operation(void);

/* How many arguments, 1 to 9 */
#define LULL_N(...) LULL_N_(__VA_ARGS__, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define LULL_N_(a, b, c, d, e, f, g, h, i, N, ...) N

/* LULL_CALL(P, TYPES, SUFFIX, arguments): shmem_TYPE_SUFFIX for P arguments, shmem_ctx_TYPE_SUFFIX for one more */
#define LULL_CALL(P, TYPES, SUFFIX, ...) LULL_CALL_(P, LULL_N(__VA_ARGS__), TYPES, SUFFIX, __VA_ARGS__)
#define LULL_CALL_(P, N, TYPES, SUFFIX, ...) LULL_CALL__(P, N, TYPES, SUFFIX, __VA_ARGS__)
#define LULL_CALL__(P, N, TYPES, SUFFIX, ...) LULL_TAKES_##P##_##N(TYPES, SUFFIX, __VA_ARGS__)
#define LULL_TAKES_2_2 LULL_BY_FIRST
#define LULL_TAKES_2_3 LULL_BY_SECOND_IN_CONTEXT
#define LULL_TAKES_3_3 LULL_BY_FIRST
#define LULL_TAKES_3_4 LULL_BY_SECOND_IN_CONTEXT
#define LULL_TAKES_4_4 LULL_BY_FIRST
#define LULL_TAKES_4_5 LULL_BY_SECOND_IN_CONTEXT
#define LULL_TAKES_5_5 LULL_BY_FIRST
#define LULL_TAKES_5_6 LULL_BY_SECOND_IN_CONTEXT
#define LULL_TAKES_6_6 LULL_BY_FIRST
#define LULL_TAKES_6_7 LULL_BY_SECOND_IN_CONTEXT
#define LULL_TAKES_7_7 LULL_BY_FIRST
#define LULL_TAKES_7_8 LULL_BY_SECOND_IN_CONTEXT

#define LULL_CASE(NAME, TYPE, SUFFIX) TYPE: shmem_##NAME##_##SUFFIX,
#define LULL_CONTEXT_CASE(NAME, TYPE, SUFFIX) TYPE: shmem_ctx_##NAME##_##SUFFIX,
#define LULL_BY_FIRST(TYPES, SUFFIX, pointer, ...) \
  _Generic(*(pointer), TYPES(LULL_CASE, SUFFIX) default: lull_no_such_operation)(pointer, __VA_ARGS__)
#define LULL_BY_SECOND(TYPES, SUFFIX, team, pointer, ...) \
  _Generic(*(pointer), TYPES(LULL_CASE, SUFFIX) default: lull_no_such_operation)(team, pointer, __VA_ARGS__)
#define LULL_BY_SECOND_IN_CONTEXT(TYPES, SUFFIX, ctx, pointer, ...) \
  _Generic(*(pointer), TYPES(LULL_CONTEXT_CASE, SUFFIX) default: lull_no_such_operation)(ctx, pointer, __VA_ARGS__)

/* Remote memory access */
#define shmem_put(...) LULL_CALL(4, LULL_RMA_TYPES_C, put, __VA_ARGS__)
#define shmem_get(...) LULL_CALL(4, LULL_RMA_TYPES_C, get, __VA_ARGS__)
#define shmem_put_nbi(...) LULL_CALL(4, LULL_RMA_TYPES_C, put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...) LULL_CALL(4, LULL_RMA_TYPES_C, get_nbi, __VA_ARGS__)
#define shmem_p(...) LULL_CALL(3, LULL_RMA_TYPES_C, p, __VA_ARGS__)
#define shmem_g(...) LULL_CALL(2, LULL_RMA_TYPES_C, g, __VA_ARGS__)
#define shmem_iput(...) LULL_CALL(6, LULL_RMA_TYPES_C, iput, __VA_ARGS__)
#define shmem_iget(...) LULL_CALL(6, LULL_RMA_TYPES_C, iget, __VA_ARGS__)
#define shmem_put_signal(...) LULL_CALL(7, LULL_RMA_TYPES_C, put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...) LULL_CALL(7, LULL_RMA_TYPES_C, put_signal_nbi, __VA_ARGS__)

/* Atomics */
#define shmem_atomic_fetch(...) LULL_CALL(2, LULL_EXTENDED_AMO_TYPES_C, atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...) LULL_CALL(3, LULL_EXTENDED_AMO_TYPES_C, atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...) LULL_CALL(3, LULL_EXTENDED_AMO_TYPES_C, atomic_swap, __VA_ARGS__)
#define shmem_atomic_compare_swap(...) LULL_CALL(4, LULL_AMO_TYPES_C, atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...) LULL_CALL(2, LULL_AMO_TYPES_C, atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...) LULL_CALL(3, LULL_AMO_TYPES_C, atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_inc(...) LULL_CALL(2, LULL_AMO_TYPES_C, atomic_inc, __VA_ARGS__)
#define shmem_atomic_add(...) LULL_CALL(3, LULL_AMO_TYPES_C, atomic_add, __VA_ARGS__)
#define shmem_atomic_and(...) LULL_CALL(3, LULL_BITWISE_GENERIC, atomic_and, __VA_ARGS__)
#define shmem_atomic_or(...) LULL_CALL(3, LULL_BITWISE_GENERIC, atomic_or, __VA_ARGS__)
#define shmem_atomic_xor(...) LULL_CALL(3, LULL_BITWISE_GENERIC, atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_and(...) LULL_CALL(3, LULL_BITWISE_GENERIC, atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...) LULL_CALL(3, LULL_BITWISE_GENERIC, atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...) LULL_CALL(3, LULL_BITWISE_GENERIC, atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...) LULL_CALL(3, LULL_EXTENDED_AMO_TYPES_C, atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...) LULL_CALL(4, LULL_EXTENDED_AMO_TYPES_C, atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) LULL_CALL(5, LULL_AMO_TYPES_C, atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) LULL_CALL(3, LULL_AMO_TYPES_C, atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) LULL_CALL(4, LULL_AMO_TYPES_C, atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) LULL_CALL(4, LULL_BITWISE_GENERIC, atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...) LULL_CALL(4, LULL_BITWISE_GENERIC, atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) LULL_CALL(4, LULL_BITWISE_GENERIC, atomic_fetch_xor_nbi, __VA_ARGS__)

/* Waiting */
#define shmem_wait_until(...) LULL_BY_FIRST(LULL_WAIT_TYPES_C, wait_until, __VA_ARGS__)
#define shmem_wait_until_all(...) LULL_BY_FIRST(LULL_WAIT_TYPES_C, wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...) LULL_BY_FIRST(LULL_WAIT_TYPES_C, wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...) LULL_BY_FIRST(LULL_WAIT_TYPES_C, wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) LULL_BY_FIRST(LULL_WAIT_TYPES_C, wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) LULL_BY_FIRST(LULL_WAIT_TYPES_C, wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) LULL_BY_FIRST(LULL_WAIT_TYPES_C, wait_until_some_vector, __VA_ARGS__)
#define shmem_test(...) LULL_BY_FIRST(LULL_WAIT_TYPES_C, test, __VA_ARGS__)
#define shmem_test_all(...) LULL_BY_FIRST(LULL_WAIT_TYPES_C, test_all, __VA_ARGS__)
#define shmem_test_any(...) LULL_BY_FIRST(LULL_WAIT_TYPES_C, test_any, __VA_ARGS__)
#define shmem_test_some(...) LULL_BY_FIRST(LULL_WAIT_TYPES_C, test_some, __VA_ARGS__)
#define shmem_test_all_vector(...) LULL_BY_FIRST(LULL_WAIT_TYPES_C, test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...) LULL_BY_FIRST(LULL_WAIT_TYPES_C, test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...) LULL_BY_FIRST(LULL_WAIT_TYPES_C, test_some_vector, __VA_ARGS__)

/* Collectives; shmem_sync with one argument is that of teams, with four that of active sets */
#define shmem_sync(...) LULL_SYNC(LULL_N(__VA_ARGS__), __VA_ARGS__)
#define LULL_SYNC(N, ...) LULL_SYNC_(N, __VA_ARGS__)
#define LULL_SYNC_(N, ...) LULL_SYNC_##N(__VA_ARGS__)
#define LULL_SYNC_1(team) shmem_team_sync(team)
#define LULL_SYNC_4(...) (shmem_sync)(__VA_ARGS__)
#define shmem_broadcast(...) LULL_BY_SECOND(LULL_RMA_TYPES_C, broadcast, __VA_ARGS__)
#define shmem_collect(...) LULL_BY_SECOND(LULL_RMA_TYPES_C, collect, __VA_ARGS__)
#define shmem_fcollect(...) LULL_BY_SECOND(LULL_RMA_TYPES_C, fcollect, __VA_ARGS__)
#define shmem_alltoall(...) LULL_BY_SECOND(LULL_RMA_TYPES_C, alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) LULL_BY_SECOND(LULL_RMA_TYPES_C, alltoalls, __VA_ARGS__)
#define shmem_and_reduce(...) LULL_BY_SECOND(LULL_BITWISE_REDUCE_GENERIC, and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) LULL_BY_SECOND(LULL_BITWISE_REDUCE_GENERIC, or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) LULL_BY_SECOND(LULL_BITWISE_REDUCE_GENERIC, xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...) LULL_BY_SECOND(LULL_COMPARE_REDUCE_TYPES_C, max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) LULL_BY_SECOND(LULL_COMPARE_REDUCE_TYPES_C, min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...) LULL_BY_SECOND(LULL_ARITHMETIC_REDUCE_TYPES_C, sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) LULL_BY_SECOND(LULL_ARITHMETIC_REDUCE_TYPES_C, prod_reduce, __VA_ARGS__)

/* Deprecated */
#define shmem_wait(...) LULL_BY_FIRST(LULL_OLD_WAIT_TYPES, wait, __VA_ARGS__)
#define shmem_fetch(...) LULL_BY_FIRST(LULL_EXTENDED_AMO_TYPES_C, fetch, __VA_ARGS__)
#define shmem_set(...) LULL_BY_FIRST(LULL_EXTENDED_AMO_TYPES_C, set, __VA_ARGS__)
#define shmem_swap(...) LULL_BY_FIRST(LULL_EXTENDED_AMO_TYPES_C, swap, __VA_ARGS__)
#define shmem_cswap(...) LULL_BY_FIRST(LULL_AMO_TYPES_C, cswap, __VA_ARGS__)
#define shmem_finc(...) LULL_BY_FIRST(LULL_AMO_TYPES_C, finc, __VA_ARGS__)
#define shmem_fadd(...) LULL_BY_FIRST(LULL_AMO_TYPES_C, fadd, __VA_ARGS__)
#define shmem_inc(...) LULL_BY_FIRST(LULL_AMO_TYPES_C, inc, __VA_ARGS__)
#define shmem_add(...) LULL_BY_FIRST(LULL_AMO_TYPES_C, add, __VA_ARGS__)

/* clang-format on */
#endif
