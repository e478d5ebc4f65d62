/* What the programs share by which waiting is tested: mpi_hammer.c, mpi_stress.c and mpi_imbalance.c.
 *
 * Every message has contents that depend on the seed, the turn, its sender and its receiver, and is verified where it
 * arrives. Wrong contents end the job with a line and exit code 3. At the end each rank prints a hash of everything that
 * it has received: it depends on the arguments only, so that two runs can be compared.
 *
 * The first argument is the number of turns, or a time as in 2.5s, after which rank 0 ends the run. Both exchange the same
 * messages: a run with the number of turns that a timed one has printed prints the same hashes.
 */
#ifndef VERIFIED_H
#define VERIFIED_H
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WRONG_DATA = 3, MISUSED = 2, TAG_OF_END = 9, TURNS_PER_CHECK = 16 };

static int rank, ranks;
static uint64_t seed;
static long turn;
static uint64_t received = 14695981039346656037u; /* the hash */
static uint64_t state;                            /* of the random numbers, the same on all ranks */
static long most_turns;                           /* 0: until the time is over */
static double most_s;

static inline double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
static double began_s;

static inline void compute(double us) {
  const double end = now_s() + us * 1e-6;
  while (now_s() < end)
    ;
}

/* A number whose bits all depend on those of the argument. */
static inline uint64_t mixed(uint64_t number) {
  number = (number ^ number >> 31) * 0x9fb21c651e98df25u;
  number = (number ^ number >> 29) * 0xd6e8feb86659fd93u;
  return number ^ number >> 32;
}

static inline uint64_t next_random(void) { return mixed(state += 0x9e3779b97f4a7c15u); }
static inline uint64_t random_below(uint64_t end) { return next_random() % end; }

/* The key of the contents that one rank sends to another in this turn. */
static inline uint64_t key_of(int from, int to) {
  return mixed(mixed(seed + (uint64_t)turn) + ((uint64_t)(unsigned)from << 32 | (uint64_t)(unsigned)to));
}

static inline uint64_t word_of(uint64_t key, size_t index) { return (key + index) * 0x9e3779b97f4a7c15u; }

static inline void fill(void* to, size_t bytes, uint64_t key) {
  for (size_t i = 0; i * 8 < bytes; ++i) {
    const uint64_t word = word_of(key, i);
    memcpy((char*)to + i * 8, &word, bytes - i * 8 < 8 ? bytes - i * 8 : 8);
  }
}

static inline void see(uint64_t number) { received = (received ^ number) * 1099511628211u; }

static inline void wrong(const char* what, size_t place) {
  fprintf(stderr, "rank %d: turn %ld of seed %llu: %s: wrong data at %zu\n", rank, turn, (unsigned long long)seed, what,
          place);
  MPI_Abort(MPI_COMM_WORLD, WRONG_DATA);
}

/* Verifies what `fill` has written elsewhere. */
static inline void expect(const char* what, const void* data, size_t bytes, uint64_t key) {
  for (size_t i = 0; i * 8 < bytes; ++i) {
    const uint64_t word = word_of(key, i);
    const size_t here = bytes - i * 8 < 8 ? bytes - i * 8 : 8;
    if (memcmp((const char*)data + i * 8, &word, here) != 0) wrong(what, i * 8);
    see(word);
  }
  see(bytes);
}

static inline void expect_number(const char* what, uint64_t found, uint64_t expected) {
  if (found != expected) wrong(what, 0);
  see(found);
}

static inline double argument(int argc, char** argv, int index, double otherwise) {
  return index < argc ? atof(argv[index]) : otherwise;
}

/* Reads the first argument. */
static inline void begin(int argc, char** argv) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char* end = NULL;
  const double length = argc > 1 ? strtod(argv[1], &end) : 0;
  if (length <= 0 || (*end != 0 && *end != 's')) {
    fprintf(stderr, "%s: the first argument is a number of turns, or a time as in 2.5s\n", argv[0]);
    MPI_Abort(MPI_COMM_WORLD, MISUSED);
  }
  if (*end == 's')
    most_s = length;
  else
    most_turns = (long)length;
  MPI_Barrier(MPI_COMM_WORLD);
  began_s = now_s();
}

/* Whether another turn follows. Rank 0 sends that to each rank, because a collective would change how an MPI library
 * waits in programs without any. */
static inline int goes_on(void) {
  int more = most_turns == 0 || turn < most_turns;
  if (turn % TURNS_PER_CHECK != 0) return more;
  if (most_turns == 0) more = turn == 0 || now_s() - began_s < most_s;
  if (rank == 0)
    for (int to = 1; to < ranks; ++to) MPI_Send(&more, 1, MPI_INT, to, TAG_OF_END, MPI_COMM_WORLD);
  else
    MPI_Recv(&more, 1, MPI_INT, 0, TAG_OF_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return more;
}

static inline void print_result(void) {
  printf("rank %d of %d: %ld turns of seed %llu, received %016llx\n", rank, ranks, turn, (unsigned long long)seed,
         (unsigned long long)received);
  fflush(stdout);
}

#endif
