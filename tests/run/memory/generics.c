/* The type-generic names of C11, called: what they move, change, await and combine, for every C type they have. */
#include <complex.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                   \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "%s:%d: PE %d: not true: %s\n", __FILE__, __LINE__, me, #condition); \
      shmem_global_exit(1);                                                                \
    }                                                                                      \
  } while (0)

enum { count = 6 };
static int me, pes, next;
static uint64_t word;
static _Alignas(16) char there[count * 32 * 64], here[count * 32 * 64]; /* as long as results of 64 PEs */
static shmem_ctx_t ctx;

/* Every transfer: the next PE's memory holds what was put there, and a get brings it back. */
#define TRANSFERS(TYPE)                                                                      \
  do {                                                                                       \
    TYPE* const to = (TYPE*)there;                                                           \
    TYPE *const from = (TYPE*)here, *const back = from + count;                              \
    for (int way = 0; way < 9; ++way) {                                                      \
      for (int i = 0; i < count; ++i) from[i] = (TYPE)(10 * way + i + 1), back[i] = (TYPE)0; \
      memset(there, 0, count * sizeof(TYPE));                                                \
      shmem_barrier_all();                                                                   \
      switch (way) {                                                                         \
        case 0:                                                                              \
          shmem_put(to, from, count, next);                                                  \
          break;                                                                             \
        case 1:                                                                              \
          shmem_put(ctx, to, from, count, next);                                             \
          break;                                                                             \
        case 2:                                                                              \
          shmem_put_nbi(to, from, count, next);                                              \
          break;                                                                             \
        case 3:                                                                              \
          shmem_put_nbi(ctx, to, from, count, next);                                         \
          break;                                                                             \
        case 4:                                                                              \
          shmem_put_signal(to, from, count, &word, 1, SHMEM_SIGNAL_ADD, next);               \
          break;                                                                             \
        case 5:                                                                              \
          shmem_put_signal_nbi(ctx, to, from, count, &word, 1, SHMEM_SIGNAL_ADD, next);      \
          break;                                                                             \
        case 6:                                                                              \
          for (int i = 0; i < count; ++i) shmem_p(to + i, from[i], next);                    \
          break;                                                                             \
        case 7:                                                                              \
          shmem_ibput(to, from, 4, 4, 2, count / 4 + 1, next);                               \
          shmem_ibput(ctx, to + 2, from + 2, 4, 4, 2, count / 4, next);                      \
          break;                                                                             \
        default:                                                                             \
          shmem_iput(to, from, 2, 2, count / 2, next);                                       \
          shmem_iput(ctx, to + 1, from + 1, 2, 2, count / 2, next);                          \
      }                                                                                      \
      shmem_quiet();                                                                         \
      shmem_ctx_quiet(ctx);                                                                  \
      switch (way) {                                                                         \
        case 0:                                                                              \
          shmem_get(back, to, count, next);                                                  \
          break;                                                                             \
        case 1:                                                                              \
          shmem_get(ctx, back, to, count, next);                                             \
          break;                                                                             \
        case 2:                                                                              \
          shmem_get_nbi(back, to, count, next);                                              \
          break;                                                                             \
        case 3:                                                                              \
          shmem_get_nbi(ctx, back, to, count, next);                                         \
          break;                                                                             \
        case 4:                                                                              \
          for (int i = 0; i < count; ++i) back[i] = shmem_g(to + i, next);                   \
          break;                                                                             \
        case 5:                                                                              \
          for (int i = 0; i < count; ++i) back[i] = shmem_g(ctx, to + i, next);              \
          break;                                                                             \
        case 7:                                                                              \
          shmem_ibget(back, to, 4, 4, 2, count / 4 + 1, next);                               \
          shmem_ibget(ctx, back + 2, to + 2, 4, 4, 2, count / 4, next);                      \
          break;                                                                             \
        default:                                                                             \
          shmem_iget(back, to, 2, 2, count / 2, next);                                       \
          shmem_iget(ctx, back + 1, to + 1, 2, 2, count / 2, next);                          \
      }                                                                                      \
      shmem_quiet();                                                                         \
      shmem_ctx_quiet(ctx);                                                                  \
      for (int i = 0; i < count; ++i) CHECK(back[i] == (TYPE)(10 * way + i + 1));            \
      shmem_barrier_all();                                                                   \
      for (int i = 0; i < count; ++i) CHECK(to[i] == (TYPE)(10 * way + i + 1));              \
    }                                                                                        \
  } while (0)

#define READ_AND_WRITE(TYPE)                                        \
  do {                                                              \
    static TYPE cell, old;                                          \
    shmem_atomic_set(&cell, (TYPE)3, next);                         \
    shmem_quiet();                                                  \
    CHECK(shmem_atomic_fetch(&cell, next) == (TYPE)3);              \
    CHECK(shmem_atomic_swap(ctx, &cell, (TYPE)4, next) == (TYPE)3); \
    shmem_atomic_fetch_nbi(&old, &cell, next);                      \
    shmem_quiet();                                                  \
    CHECK(old == (TYPE)4);                                          \
    shmem_atomic_swap_nbi(ctx, &old, &cell, (TYPE)5, next);         \
    shmem_ctx_quiet(ctx);                                           \
    CHECK(old == (TYPE)4);                                          \
    shmem_set(&cell, (TYPE)6, next);                                \
    shmem_quiet();                                                  \
    CHECK(shmem_fetch(&cell, next) == (TYPE)6);                     \
    CHECK(shmem_swap(&cell, (TYPE)7, next) == (TYPE)6);             \
    shmem_barrier_all();                                            \
    CHECK(cell == (TYPE)7);                                         \
  } while (0)

#define ARITHMETIC(TYPE)                                                           \
  do {                                                                             \
    static TYPE cell, old;                                                         \
    shmem_atomic_add(&cell, (TYPE)10, next);                                       \
    shmem_quiet(); /* the contexts below are not ordered with it */                \
    shmem_atomic_inc(ctx, &cell, next);                                            \
    shmem_ctx_quiet(ctx);                                                          \
    CHECK(shmem_atomic_fetch_add(&cell, (TYPE)1, next) == (TYPE)11);               \
    CHECK(shmem_atomic_fetch_inc(ctx, &cell, next) == (TYPE)12);                   \
    CHECK(shmem_atomic_compare_swap(&cell, (TYPE)13, (TYPE)20, next) == (TYPE)13); \
    shmem_atomic_fetch_add_nbi(&old, &cell, (TYPE)1, next);                        \
    shmem_quiet();                                                                 \
    CHECK(old == (TYPE)20);                                                        \
    shmem_atomic_fetch_inc_nbi(ctx, &old, &cell, next);                            \
    shmem_ctx_quiet(ctx);                                                          \
    CHECK(old == (TYPE)21);                                                        \
    shmem_atomic_compare_swap_nbi(&old, &cell, (TYPE)22, (TYPE)30, next);          \
    shmem_quiet();                                                                 \
    CHECK(old == (TYPE)22);                                                        \
    shmem_add(&cell, (TYPE)1, next);                                               \
    shmem_inc(&cell, next);                                                        \
    shmem_quiet();                                                                 \
    CHECK(shmem_fadd(&cell, (TYPE)1, next) == (TYPE)32);                           \
    CHECK(shmem_finc(&cell, next) == (TYPE)33);                                    \
    CHECK(shmem_cswap(&cell, (TYPE)34, (TYPE)40, next) == (TYPE)34);               \
    shmem_barrier_all();                                                           \
    CHECK(cell == (TYPE)40);                                                       \
  } while (0)

#define BITWISE(TYPE)                                                          \
  do {                                                                         \
    static TYPE cell, old;                                                     \
    shmem_atomic_or(&cell, (TYPE)0x3C, next);                                  \
    shmem_quiet();                                                             \
    shmem_atomic_and(ctx, &cell, (TYPE)0x1F, next);                            \
    shmem_ctx_quiet(ctx);                                                      \
    shmem_atomic_xor(&cell, (TYPE)0xFF, next);                                 \
    shmem_quiet();                                                             \
    CHECK(shmem_atomic_fetch_or(&cell, (TYPE)0x01, next) == (TYPE)0xE3);       \
    CHECK(shmem_atomic_fetch_and(ctx, &cell, (TYPE)0x0F, next) == (TYPE)0xE3); \
    CHECK(shmem_atomic_fetch_xor(&cell, (TYPE)0x01, next) == (TYPE)0x03);      \
    shmem_atomic_fetch_or_nbi(&old, &cell, (TYPE)0x10, next);                  \
    shmem_quiet();                                                             \
    CHECK(old == (TYPE)0x02);                                                  \
    shmem_atomic_fetch_and_nbi(ctx, &old, &cell, (TYPE)0x10, next);            \
    shmem_ctx_quiet(ctx);                                                      \
    CHECK(old == (TYPE)0x12);                                                  \
    shmem_atomic_fetch_xor_nbi(&old, &cell, (TYPE)0x11, next);                 \
    shmem_quiet();                                                             \
    CHECK(old == (TYPE)0x10);                                                  \
    shmem_barrier_all();                                                       \
    CHECK(cell == (TYPE)0x01);                                                 \
  } while (0)

#define WAITS(TYPE)                                                                                         \
  do {                                                                                                      \
    static TYPE cells[3];                                                                                   \
    TYPE values[3] = {1, 2, 3};                                                                             \
    size_t some[3] = {9, 9, 9};                                                                             \
    const int but_the_last[3] = {0, 0, 1};                                                                  \
    for (int i = 0; i < 3; ++i) shmem_p(cells + i, values[i], next);                                        \
    shmem_wait_until(cells, SHMEM_CMP_EQ, values[0]);                                                       \
    shmem_wait_until_all(cells, 3, NULL, SHMEM_CMP_GT, (TYPE)0);                                            \
    CHECK(shmem_test(cells + 2, SHMEM_CMP_GE, (TYPE)3) == 1);                                               \
    CHECK(shmem_test(cells, SHMEM_CMP_NE, (TYPE)1) == 0);                                                   \
    CHECK(shmem_wait_until_any(cells, 3, NULL, SHMEM_CMP_EQ, (TYPE)2) == 1);                                \
    CHECK(shmem_wait_until_some(cells, 3, some, but_the_last, SHMEM_CMP_GE, (TYPE)2) == 1 && some[0] == 1); \
    CHECK(shmem_test_all(cells, 3, NULL, SHMEM_CMP_LE, (TYPE)3) == 1);                                      \
    CHECK(shmem_test_any(cells, 3, but_the_last, SHMEM_CMP_EQ, (TYPE)3) == SIZE_MAX);                       \
    CHECK(shmem_test_some(cells, 3, some, NULL, SHMEM_CMP_LT, (TYPE)3) == 2 && some[1] == 1);               \
    shmem_wait_until_all_vector(cells, 3, NULL, SHMEM_CMP_EQ, values);                                      \
    CHECK(shmem_wait_until_any_vector(cells, 3, NULL, SHMEM_CMP_EQ, values) < 3);                           \
    CHECK(shmem_wait_until_some_vector(cells, 3, some, NULL, SHMEM_CMP_EQ, values) == 3);                   \
    CHECK(shmem_test_all_vector(cells, 3, NULL, SHMEM_CMP_EQ, values) == 1);                                \
    CHECK(shmem_test_any_vector(cells, 3, NULL, SHMEM_CMP_NE, values) == SIZE_MAX);                         \
    CHECK(shmem_test_some_vector(cells, 3, some, but_the_last, SHMEM_CMP_EQ, values) == 2);                 \
    shmem_barrier_all();                                                                                    \
  } while (0)

#define OLD_WAIT(TYPE)             \
  do {                             \
    static TYPE cell;              \
    shmem_p(&cell, (TYPE)5, next); \
    shmem_wait(&cell, (TYPE)0);    \
    CHECK(cell == (TYPE)5);        \
    shmem_barrier_all();           \
  } while (0)

#define COLLECTIVES(TYPE)                                                            \
  do {                                                                               \
    TYPE *const from = (TYPE*)here, *const to = (TYPE*)there;                        \
    for (int i = 0; i < 2 * pes; ++i) from[i] = (TYPE)(me + i + 1), to[i] = (TYPE)0; \
    shmem_sync(SHMEM_TEAM_WORLD);                                                    \
    CHECK(shmem_broadcast(SHMEM_TEAM_WORLD, to, from, 2, pes - 1) == 0);             \
    CHECK(to[0] == (TYPE)pes && to[1] == (TYPE)(pes + 1));                           \
    shmem_sync(SHMEM_TEAM_WORLD);                                                    \
    CHECK(shmem_collect(SHMEM_TEAM_WORLD, to, from, 1) == 0);                        \
    for (int pe = 0; pe < pes; ++pe) CHECK(to[pe] == (TYPE)(pe + 1));                \
    shmem_sync(SHMEM_TEAM_WORLD);                                                    \
    CHECK(shmem_fcollect(SHMEM_TEAM_WORLD, to, from + 1, 1) == 0);                   \
    for (int pe = 0; pe < pes; ++pe) CHECK(to[pe] == (TYPE)(pe + 2));                \
    shmem_sync(SHMEM_TEAM_WORLD);                                                    \
    CHECK(shmem_alltoall(SHMEM_TEAM_WORLD, to, from, 1) == 0);                       \
    for (int pe = 0; pe < pes; ++pe) CHECK(to[pe] == (TYPE)(pe + me + 1));           \
    shmem_sync(SHMEM_TEAM_WORLD);                                                    \
    CHECK(shmem_alltoalls(SHMEM_TEAM_WORLD, to, from, 2, 1, 1) == 0);                \
    for (int pe = 0; pe < pes; ++pe) CHECK(to[2 * pe] == (TYPE)(pe + me + 1));       \
    shmem_sync(SHMEM_TEAM_WORLD);                                                    \
  } while (0)

#define REDUCE(TYPE, OP, MINE, RESULT)                              \
  do {                                                              \
    TYPE *const from = (TYPE*)here, *const to = (TYPE*)there;       \
    from[0] = (TYPE)(MINE);                                         \
    shmem_sync(SHMEM_TEAM_WORLD);                                   \
    CHECK(shmem_##OP##_reduce(SHMEM_TEAM_WORLD, to, from, 1) == 0); \
    CHECK(to[0] == (TYPE)(RESULT));                                 \
    shmem_sync(SHMEM_TEAM_WORLD);                                   \
  } while (0)
#define REDUCE_BITS(TYPE)                                    \
  do {                                                       \
    REDUCE(TYPE, and, me == 0 ? 0x5 : 0x7, 0x5);             \
    REDUCE(TYPE, or, me == 0 ? 0x5 : 0x2, pes == 1 ? 5 : 7); \
    REDUCE(TYPE, xor, me == 0 ? 0x5 : 0, 0x5);               \
  } while (0)
#define REDUCE_ORDERED(TYPE)        \
  do {                              \
    REDUCE(TYPE, max, me + 1, pes); \
    REDUCE(TYPE, min, me + 1, 1);   \
  } while (0)
/* Sums up to this PE, of as many ones as PEs */
#define SCAN(TYPE)                                               \
  do {                                                           \
    TYPE* const to = (TYPE*)there;                               \
    TYPE* const from = (TYPE*)here;                              \
    from[0] = (TYPE)1;                                           \
    CHECK(shmem_sum_inscan(SHMEM_TEAM_WORLD, to, from, 1) == 0); \
    CHECK(to[0] == (TYPE)(me + 1));                              \
    shmem_barrier_all();                                         \
    CHECK(shmem_sum_exscan(SHMEM_TEAM_WORLD, to, from, 1) == 0); \
    CHECK(to[0] == (TYPE)me);                                    \
    shmem_barrier_all();                                         \
  } while (0)
#define REDUCE_NUMBERS(TYPE)                  \
  do {                                        \
    SCAN(TYPE);                               \
    REDUCE(TYPE, sum, me, pes*(pes - 1) / 2); \
    REDUCE(TYPE, prod, me == 0 ? 3 : 1, 3);   \
  } while (0)

#define INTEGERS(DO) \
  DO(int);           \
  DO(long);          \
  DO(long long);     \
  DO(unsigned int);  \
  DO(unsigned long); \
  DO(unsigned long long)
#define SMALL_UNSIGNED(DO) \
  DO(unsigned char);       \
  DO(unsigned short)
#define SMALL(DO)     \
  SMALL_UNSIGNED(DO); \
  DO(char);           \
  DO(signed char);    \
  DO(short)
#define REAL(DO) \
  DO(float);     \
  DO(double)

static void transfers(void) {
  INTEGERS(TRANSFERS);
  SMALL(TRANSFERS);
  REAL(TRANSFERS);
  TRANSFERS(long double);
}

static void atomics(void) {
  INTEGERS(READ_AND_WRITE);
  REAL(READ_AND_WRITE);
  INTEGERS(ARITHMETIC);
  BITWISE(unsigned int);
  BITWISE(unsigned long);
  BITWISE(unsigned long long);
  BITWISE(int32_t);
  BITWISE(int64_t);
}

static void waits(void) {
  INTEGERS(WAITS);
  WAITS(short);
  WAITS(unsigned short);
  OLD_WAIT(short);
  OLD_WAIT(int);
  OLD_WAIT(long);
  OLD_WAIT(long long);
}

static void collectives(void) {
  INTEGERS(COLLECTIVES);
  SMALL(COLLECTIVES);
  REAL(COLLECTIVES);
  COLLECTIVES(long double);
  INTEGERS(REDUCE_BITS);
  SMALL_UNSIGNED(REDUCE_BITS);
  REDUCE_BITS(short);
  REDUCE_BITS(signed char);
  INTEGERS(REDUCE_ORDERED);
  SMALL(REDUCE_ORDERED);
  REAL(REDUCE_ORDERED);
  REDUCE_ORDERED(long double);
  INTEGERS(REDUCE_NUMBERS);
  SMALL(REDUCE_NUMBERS);
  REAL(REDUCE_NUMBERS);
  REDUCE_NUMBERS(long double);
  REDUCE_NUMBERS(float _Complex);
  REDUCE_NUMBERS(double _Complex);
}

/* With and without a context */
static void signals(void) {
  static uint64_t signal;
  shmem_signal_set(&signal, 5, next);
  shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 5);
  shmem_barrier_all();
  shmem_signal_add(ctx, &signal, 2, next);
  shmem_ctx_quiet(ctx);
  shmem_signal_add(&signal, 3, next);
  CHECK(shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 10) == 10);
  shmem_barrier_all();
  shmem_signal_set(ctx, &signal, 1, next);
  CHECK(shmem_signal_wait_until(&signal, SHMEM_CMP_NE, 10) == 1);
  shmem_ctx_quiet(ctx);
  shmem_barrier_all();
}

int main(void) {
  shmem_init();
  me = shmem_my_pe();
  pes = shmem_n_pes();
  next = (me + 1) % pes;
  CHECK(pes <= 64);
  CHECK(shmem_ctx_create(0, &ctx) == 0);
  transfers();
  atomics();
  waits();
  collectives();
  signals();
  shmem_ctx_destroy(ctx);
  shmemx_wait_stats_t stats;
  shmemx_wait_stats(&stats);
  if (shmemx_n_nodes() == 1) CHECK(stats.missed == 0);
  shmem_finalize();
  return 0;
}
