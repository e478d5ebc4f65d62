/* Times of OpenSHMEM's one-sided operations, as lines of JSON: {"what": ..., "bytes": ..., "us": ...}.
 *
 *     one_sided alone     the first PE transfers to the second, the others wait in a barrier: put and quiet, get,
 *                         fetch-and-add, a stream of non-blocking puts, and a barrier of all PEs
 *     one_sided together  every PE transfers to the next one at the same time
 *     one_sided exchange  two PEs repeatedly send each other 32 KiB by put, fence and an atomic flag, like libraries of
 *                         aggregation; they wait for the flag by wait_until, by test, or by fetching it
 *     one_sided blocks    what OpenSHMEM 1.6 adds: blocks with a stride by one ibput or a loop of puts, in turn, and a
 *                         stream of atomic additions to random places in a batch session or outside, in turn
 *     one_sided wait      CPU time of PEs that do nothing for a second, and that wait a second in a barrier
 *
 * Plain OpenSHMEM 1.4, except for blocks; compiled with each of the compared libraries. Times are medians of samples; each sample times so
 * many operations that the overhead of the clock does not matter. */
#define _GNU_SOURCE
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_samples = 400, largest = 4 << 20, stream_words = 1 << 17, stream_puts = 1 << 15 };

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double wall(void) { return seconds(CLOCK_MONOTONIC); }

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_value);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void say(const char* what, size_t bytes, double us) {
  printf("{\"what\": \"%s\", \"bytes\": %zu, \"us\": %.6g}\n", what, bytes, us);
  fflush(stdout);
}

static char *area, *source, *fetched;
static long* counter;
static int me, pes;

/* The timed operations, each complete on return. */
static void put(size_t bytes, int pe) {
  shmem_putmem(area, source, bytes, pe);
  shmem_quiet();
}

static void get(size_t bytes, int pe) { shmem_getmem(fetched, area, bytes, pe); }

static void add(size_t bytes, int pe) {
  (void)bytes;
  (void)shmem_long_atomic_fetch_add(counter, 1, pe);
}

typedef void operation(size_t bytes, int pe);

static double timed(operation* run, size_t bytes, int pe, int times) {
  const double begin = wall();
  for (int i = 0; i < times; ++i) run(bytes, pe);
  return wall() - begin;
}

/* Median time of one operation in microseconds; takes about `budget` seconds. */
static double sampled(operation* run, size_t bytes, int pe, double budget) {
  double samples[most_samples];
  double once = timed(run, bytes, pe, 1);
  for (int i = 0; i < 10; ++i) {
    const double again = timed(run, bytes, pe, 1);
    if (again < once) once = again;
  }
  if (once < 1e-8) once = 1e-8;
  const int batch = once < 5e-6 ? (int)(5e-6 / once) + 1 : 1;
  int count = (int)(budget / (once * batch));
  if (count > most_samples) count = most_samples;
  if (count < 15) count = 15;
  for (int i = 0; i < count; ++i) samples[i] = timed(run, bytes, pe, batch) / batch * 1e6;
  return median(samples, count);
}

static void stream(int pe) { /* puts of 8 bytes to random places, with one quiet for all of them */
  double samples[5];
  uint64_t draw = 1;
  long value = 1;
  for (int s = 0; s < 5; ++s) {
    const double begin = wall();
    for (int i = 0; i < stream_puts; ++i) {
      draw = draw * 6364136223846793005U + 1442695040888963407U;
      shmem_putmem_nbi(area + (draw >> 40) % stream_words * 8, &value, 8, pe);
    }
    shmem_quiet();
    samples[s] = (wall() - begin) / stream_puts * 1e6;
  }
  say("nbi", 8, median(samples, 5));
}

static void barriers(void) {
  double samples[50];
  for (int s = -5; s < 50; ++s) {
    const double begin = wall();
    for (int i = 0; i < 40; ++i) shmem_barrier_all();
    if (s >= 0) samples[s] = (wall() - begin) / 40 * 1e6;
  }
  if (me == 0) say("barrier", 0, median(samples, 50));
}

static void alone(void) {
  if (me == 0) {
    for (size_t bytes = 8; bytes <= largest; bytes *= 2) say("put", bytes, sampled(put, bytes, 1, 0.02));
    for (size_t bytes = 8; bytes <= largest; bytes *= 2) say("get", bytes, sampled(get, bytes, 1, 0.02));
    say("fetch-add", 8, sampled(add, 8, 1, 0.02));
    stream(1);
  }
  shmem_barrier_all();
  barriers();
}

/* Wall time from barrier to barrier over the operations of each PE. */
static void together(void) {
  static const size_t sizes[] = {8, 4096, 65536, 1 << 20};
  static const struct {
    const char* name;
    operation* run;
  } kinds[] = {{"put", put}, {"get", get}, {"fetch-add", add}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
      if (kinds[k].run == add && sizes[s] != 8) continue;
      const int times = sizes[s] > 65536 ? 20 : 200;
      double samples[5];
      for (int i = -1; i < 5; ++i) {
        shmem_barrier_all();
        const double begin = wall();
        for (int t = 0; t < times; ++t) kinds[k].run(sizes[s], (me + 1) % pes);
        shmem_barrier_all();
        if (i >= 0) samples[i] = (wall() - begin) / times * 1e6;
      }
      if (me == 0) say(kinds[k].name, sizes[s], median(samples, 5));
    }
  }
  barriers();
}

/* How a PE waits until its flag has reached a value. */
static void by_wait(long* flag, long value) { shmem_long_wait_until(flag, SHMEM_CMP_GE, value); }
static void by_test(long* flag, long value) {
  while (!shmem_long_test(flag, SHMEM_CMP_GE, value)) {
  }
}
static void by_fetch(long* flag, long value) {
  while (shmem_long_atomic_fetch(flag, me) < value) {
  }
}

static void exchange(void) {
  enum { bytes = 32768, rounds = 500 };
  static const struct {
    const char* name;
    void (*await)(long*, long);
  } ways[] = {{"exchange-wait", by_wait}, {"exchange-test", by_test}, {"exchange-fetch", by_fetch}};
  static long full, round;
  const int other = 1 - me;
  for (size_t w = 0; w < sizeof ways / sizeof *ways; ++w) {
    double samples[5];
    for (int s = -1; s < 5; ++s) {
      shmem_barrier_all();
      const double begin = wall();
      for (int i = 0; i < rounds; ++i) {
        ++round; /* two buffers: data in one is not overwritten before the next flag has answered it */
        shmem_putmem(area + (round & 1) * bytes, source, bytes, other);
        shmem_fence();
        shmem_long_atomic_set(&full, round, other);
        ways[w].await(&full, round);
      }
      if (s >= 0) samples[s] = (wall() - begin) / rounds * 1e6;
    }
    if (me == 0) say(ways[w].name, bytes, median(samples, 5));
  }
}

#if SHMEM_MINOR_VERSION >= 6
enum { block_longs = 8, block_stride = 16, blocks_of_a_call = 1024, additions = 1 << 14 };

static void by_loop(void) {
  for (size_t b = 0; b < blocks_of_a_call; ++b)
    shmem_long_put((long*)area + b * block_stride, (long*)source + b * block_longs, block_longs, 1);
}
static void by_ibput(void) {
  shmem_long_ibput((long*)area, (long*)source, block_stride, block_longs, block_longs, blocks_of_a_call, 1);
}
static void add_at_random(void) {
  static uint64_t draw = 1;
  for (int i = 0; i < additions; ++i) {
    draw = draw * 6364136223846793005U + 1442695040888963407U;
    shmem_uint64_atomic_add((uint64_t*)area + (draw >> 40) % stream_words, 1, 1);
  }
}
static void add_in_a_batch(void) {
  const shmem_ctx_session_config_t config = {.total_ops = additions};
  shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
  add_at_random();
  shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
}

/* Each sample of one is followed by one of the other. */
static void in_turn(const char* first, void (*one)(void), const char* second, void (*other)(void), double each) {
  enum { turns = 25 };
  double samples[2][turns];
  for (int turn = -2; turn < turns; ++turn)
    for (int which = 0; which < 2; ++which) {
      const double begin = wall();
      (which == 0 ? one : other)();
      shmem_quiet();
      if (turn >= 0) samples[which][turn] = (wall() - begin) / each * 1e6;
    }
  say(first, 8, median(samples[0], turns));
  say(second, 8, median(samples[1], turns));
}

static void blocks(void) {
  if (me == 0) {
    in_turn("blocks-loop", by_loop, "blocks-ibput", by_ibput, blocks_of_a_call);
    in_turn("additions", add_at_random, "additions-batch", add_in_a_batch, additions);
  }
  shmem_barrier_all();
}
#else
static void blocks(void) {}
#endif

static void sleep_a_second(void) {
  const struct timespec second = {1, 0};
  nanosleep(&second, NULL);
}

/* The largest CPU time of a PE over the wall time, in percent of a core. Collective. */
static void say_cpu(const char* what, double cpu, double took, int from) {
  static double mine;
  mine = cpu / took * 100;
  shmem_barrier_all();
  double worst = 0;
  for (int pe = from; me == 0 && pe < pes; ++pe) {
    double other;
    shmem_getmem(&other, &mine, sizeof other, pe);
    if (other > worst) worst = other;
  }
  if (me == 0) printf("{\"what\": \"%s\", \"cpu_pct\": %.6g}\n", what, worst);
  fflush(stdout);
  shmem_barrier_all();
}

static void wait_a_second(void) {
  shmem_barrier_all();
  double begin = wall(), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  sleep_a_second();
  cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  say_cpu("idle", cpu, wall() - begin, 0);

  begin = wall();
  cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  if (me == 0) sleep_a_second();
  shmem_barrier_all();
  cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  say_cpu("barrier", cpu, wall() - begin, 1);
}

int main(int argc, char** argv) {
  shmem_init();
  me = shmem_my_pe();
  pes = shmem_n_pes();
  area = shmem_malloc(largest);
  source = shmem_malloc(largest);
  fetched = shmem_malloc(largest);
  counter = shmem_malloc(sizeof *counter);
  if (!area || !source || !fetched || !counter || argc != 2 || pes < 2) {
    if (me == 0)
      fprintf(stderr,
              "one_sided: alone, together, exchange, blocks, wait or start, on at least 2 PEs with 16 MiB each\n");
    shmem_global_exit(2);
  }
  memset(area, 0, largest);
  memset(source, 1, largest);
  memset(fetched, 2, largest);
  *counter = 0;
  shmem_barrier_all();
  if (strcmp(argv[1], "alone") == 0)
    alone();
  else if (strcmp(argv[1], "together") == 0)
    together();
  else if (strcmp(argv[1], "exchange") == 0 && pes == 2)
    exchange();
  else if (strcmp(argv[1], "blocks") == 0)
    blocks();
  else if (strcmp(argv[1], "start") != 0)
    wait_a_second();
  shmem_finalize();
  return 0;
}
