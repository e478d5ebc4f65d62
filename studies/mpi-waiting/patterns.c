/* Small MPI programs that wait, in one: for the study mpi-waiting and `make bench-mpi-wait`.
 *
 *   patterns imbalance SECONDS US_A US_B     even ranks compute US_A, odd ones US_B; then MPI_Allreduce of one number
 *   patterns rotating SECONDS US PERCENT     all compute US, one of them, in turn, PERCENT longer; then the same
 *   patterns pingpong SECONDS BYTES          the first two ranks
 *   patterns alltoall SECONDS BYTES US       each sends BYTES to each and then computes US
 *   patterns calls SECONDS                   MPI_Wait without a request: nothing to wait for
 *
 * For SECONDS a number of repeats may stand, as in 1000x. Rank 0 prints {"repeats": N, "seconds": S}. The computation is
 * an amount of work, measured once at the begin, so that it takes longer on a core that is shared.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile double sink;

static void work(long amount) {
  double x = 1.0;
  for (long i = 0; i < amount; ++i) x = x * 1.0000001 + 1e-9;
  sink = x;
}

/* The most that was ever done in a microsecond: other load only makes it less. */
static double work_per_us(void) {
  double most = 0;
  for (int i = 0; i < 60; ++i) {
    const long amount = 200000;
    const double begin = MPI_Wtime();
    work(amount);
    const double rate = (double)amount / ((MPI_Wtime() - begin) * 1e6);
    if (rate > most) most = rate;
  }
  MPI_Bcast(&most, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return most;
}

static double seconds, began;
static long most_repeats;

static int is_last(long repeats) { return repeats + 1 >= most_repeats || MPI_Wtime() - began > seconds; }

static double number(int argc, char** argv, int index) {
  if (index < argc) return atof(argv[index]);
  fprintf(stderr, "patterns: an argument is missing; the head of patterns.c lists them\n");
  MPI_Abort(MPI_COMM_WORLD, 2);
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* what = argc > 1 ? argv[1] : "";
  seconds = number(argc, argv, 2);
  const int counted = argv[2][strlen(argv[2]) - 1] == 'x';
  most_repeats = counted ? (long)seconds : 1000000000000;
  if (counted) seconds = 1e9;
  long repeats = 0, check_every = 1;
  int go_on = 1;

  if (strcmp(what, "imbalance") == 0 || strcmp(what, "rotating") == 0) {
    const int rotates = strcmp(what, "rotating") == 0;
    const double rate = work_per_us(), a = number(argc, argv, 3), b = number(argc, argv, 4);
    double sum = 0, mine = 1;
    began = MPI_Wtime();
    while (go_on) {
      const double us = rotates ? (repeats % ranks == rank ? a * (1 + b / 100) : a) : rank % 2 == 0 ? a : b;
      work((long)(us * rate));
      mine = rank == 0 && is_last(repeats) ? 0 : 1; /* the sum says when to stop */
      MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      go_on = sum > ranks - 0.5;
      ++repeats;
    }
  } else if (strcmp(what, "pingpong") == 0) {
    const int bytes = (int)number(argc, argv, 3);
    char* buffer = calloc(1, (size_t)bytes + 1);
    check_every = counted ? 1 : bytes < 4096 ? 1000 : 10;
    began = MPI_Wtime();
    while (go_on) {
      if (repeats % check_every == 0) buffer[0] = (char)is_last(repeats);
      if (rank == 0) {
        const char last = buffer[0];
        MPI_Send(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        go_on = !last;
      } else if (rank == 1) {
        MPI_Recv(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        go_on = !buffer[0];
        MPI_Send(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
      } else {
        go_on = 0;
      }
      ++repeats;
    }
    free(buffer);
  } else if (strcmp(what, "alltoall") == 0) {
    const int bytes = (int)number(argc, argv, 3);
    const double us = number(argc, argv, 4), rate = us > 0 ? work_per_us() : 0;
    char *from = calloc((size_t)ranks, (size_t)bytes), *to = calloc((size_t)ranks, (size_t)bytes);
    began = MPI_Wtime();
    while (go_on) {
      for (int i = 0; rank == 0 && i < ranks; ++i) from[(size_t)i * (size_t)bytes] = (char)is_last(repeats);
      MPI_Alltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, MPI_COMM_WORLD);
      go_on = !to[0];
      work((long)(us * rate));
      ++repeats;
    }
    free(from);
    free(to);
  } else if (strcmp(what, "calls") == 0) {
    MPI_Request none = MPI_REQUEST_NULL;
    began = MPI_Wtime();
    while (MPI_Wtime() - began < seconds && repeats < most_repeats) {
      for (int i = 0; i < 100000; ++i) MPI_Wait(&none, MPI_STATUS_IGNORE);
      repeats += 100000;
    }
  } else {
    number(argc, argv, argc);
  }

  const double took = MPI_Wtime() - began;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("{\"repeats\": %ld, \"seconds\": %.6f}\n", repeats, took);
  MPI_Finalize();
  return 0;
}
