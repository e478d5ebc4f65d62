/* Waits with a known end:
 *
 *   mpi_waits long SECONDS     the other ranks wait for rank 0, which sleeps; each prints its CPU time in the wait
 *   mpi_waits window SECONDS   the same, while a window is made
 *   mpi_waits ever             all but the last wait for a message that never comes; the last computes
 *   mpi_waits abort|exit|fall  the others wait, and the last ends in this form
 *   mpi_waits short COUNT      ranks 0 and 1 wait in turn for 20 to 150 microseconds
 *   mpi_waits threads COUNT    two threads of each rank communicate with those of the next, and with each other
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks, messages;

static double cpu_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void compute(double us) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((double)(now.tv_sec - begin.tv_sec) * 1e6 + (double)(now.tv_nsec - begin.tv_nsec) * 1e-3 < us);
}

static void wait_in_turn(int times) {
  unsigned random = 42 + (unsigned)rank;
  for (int i = 0, number = i; i < times && rank < 2; ++i) {
    random = random * 1664525 + 1013904223;
    const double us = 20 + random / 65536 % 130;
    if (rank == 1) MPI_Recv(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    compute(us);
    MPI_Send(&number, 1, MPI_INT, !rank, 5, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* Thread 0 sends to the next rank and then to thread 1 of its own rank; thread 1 answers both. */
static void* talk(void* which) {
  const int me = (int)(long)which;
  long sum = 0;
  for (int i = 0; i < messages; ++i) {
    int number = i, back = -1;
    if (me == 0) {
      if (i % 50 == 0) usleep(1000);
      MPI_Send(&number, 1, MPI_INT, (rank + 1) % ranks, 1, MPI_COMM_WORLD);
      MPI_Recv(&back, 1, MPI_INT, (rank + 1) % ranks, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum += back;
      MPI_Send(&number, 1, MPI_INT, rank, 3, MPI_COMM_WORLD);
      MPI_Recv(&back, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum += back;
    } else {
      MPI_Recv(&number, 1, MPI_INT, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      number *= 2;
      MPI_Send(&number, 1, MPI_INT, (rank + ranks - 1) % ranks, 2, MPI_COMM_WORLD);
      MPI_Recv(&number, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      number *= 3;
      MPI_Send(&number, 1, MPI_INT, rank, 4, MPI_COMM_WORLD);
    }
  }
  return (void*)sum;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int level = 0;
  MPI_Init_thread(&argc, &argv, strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(what, "long") == 0 || strcmp(what, "window") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = cpu_s();
    if (rank == 0) usleep((unsigned)(atof(argv[2]) * 1e6));
    int number = 7;
    MPI_Win window = MPI_WIN_NULL;
    if (what[0] == 'w') MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    printf("rank %d: %.3f\n", rank, cpu_s() - before);
    if (window != MPI_WIN_NULL) MPI_Win_free(&window);
  } else if (strcmp(what, "short") == 0) {
    wait_in_turn(atoi(argv[2]));
  } else if (strcmp(what, "threads") == 0) {
    messages = atoi(argv[2]);
    pthread_t one;
    pthread_create(&one, NULL, talk, (void*)1);
    const long sum = (long)talk((void*)0);
    pthread_join(one, NULL);
    printf("rank %d: %ld at level %d\n", rank, sum, level == MPI_THREAD_MULTIPLE);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    char path[64];
    snprintf(path, sizeof path, "waits.%d", rank);
    fclose(fopen(path, "w"));
    int number = 0;
    if (rank < ranks - 1) MPI_Recv(&number, 1, MPI_INT, ranks - 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(200000);
    if (strcmp(what, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
    if (strcmp(what, "exit") == 0) _exit(7);
    if (strcmp(what, "fall") == 0) raise(SIGKILL);
    for (;;) usleep(100000);
  }
  MPI_Finalize();
  return 0;
}
