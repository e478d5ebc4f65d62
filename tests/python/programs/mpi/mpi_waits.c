/* Waits with a known end:
 *
 *   mpi_waits long SECONDS     the other ranks wait for rank 0, which sleeps; each prints its CPU time in the wait
 *   mpi_waits window SECONDS   the same, while a window is made
 *   mpi_waits loops SECONDS    the same, in loops of MPI_Iprobe and MPI_Test
 *   mpi_waits messages SECONDS the same, in MPI_Probe, MPI_Recv and MPI_Wait
 *   mpi_waits ever             all but the last wait for a message that never comes; the last computes
 *   mpi_waits abort|exit|fall  the others wait, and the last ends in this form
 *   mpi_waits short COUNT      ranks 0 and 1 wait in turn for 20 to 150 microseconds
 *   mpi_waits threads COUNT    two threads of each rank communicate with those of the next, and with each other
 *   mpi_waits target COUNT     rank 1 puts numbers into a window of rank 0, which waits for a message
 *   mpi_waits served COUNT     four threads of each other rank wait at the same time, each for an answer of rank 0
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

/* Rank 0 sends three numbers to each other, which waits for each of them, in its own loops or not. */
static void receive_numbers(int in_loops) {
  int number = 7, flag = 0;
  for (int to = 1; rank == 0 && to < ranks; ++to)
    for (int tag = 6; tag < 9; ++tag) {
      MPI_Send(&number, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
      usleep(50000);
    }
  if (rank == 0) return;
  MPI_Request request;
  if (in_loops) {
    while (!flag) MPI_Iprobe(0, 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  } else {
    MPI_Probe(0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Recv(&number, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(&number, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
  if (in_loops) {
    for (flag = 0; !flag;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  } else {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Recv(&number, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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

enum { THREADS = 4, REQUEST = 10, ANSWER = 20 };

static void* ask(void* which) {
  const int me = (int)(long)which;
  long sum = 0;
  for (int i = 0; i < messages; ++i) {
    const int number[] = {me, i * THREADS + me};
    int answer = -1;
    MPI_Send(number, 2, MPI_INT, 0, REQUEST, MPI_COMM_WORLD);
    MPI_Recv(&answer, 1, MPI_INT, 0, ANSWER + me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += answer;
  }
  return (void*)sum;
}

/* Rank 0 answers only when all threads wait, in an order that differs each time. */
static void serve(void) {
  for (int i = 0; i < messages; ++i)
    for (int from = 1; from < ranks; ++from) {
      int answers[THREADS] = {0};
      for (int request = 0; request < THREADS; ++request) {
        int number[2];
        MPI_Recv(number, 2, MPI_INT, from, REQUEST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        answers[number[0]] = 3 * number[1];
      }
      if (i % 10 == 0) usleep(2000);
      for (int place = 0; place < THREADS; ++place) {
        const int to = (place * 3 + i) % THREADS;
        compute(50);
        MPI_Send(&answers[to], 1, MPI_INT, from, ANSWER + to, MPI_COMM_WORLD);
      }
    }
}

static long ask_in_threads(void) {
  pthread_t others[THREADS - 1];
  for (long i = 1; i < THREADS; ++i) pthread_create(&others[i - 1], NULL, ask, (void*)i);
  long sum = (long)ask((void*)0);
  for (int i = 0; i < THREADS - 1; ++i) {
    void* of_thread = NULL;
    pthread_join(others[i], &of_thread);
    sum += (long)of_thread;
  }
  return sum;
}

/* Returns the sum of what rank 0 finds in its window. */
static long put_into_window(void) {
  int *memory = NULL, number = 0;
  MPI_Win window;
  MPI_Win_allocate((MPI_Aint)(sizeof(int) * (size_t)messages), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                   &window);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; rank == 1 && i < messages; ++i) {
    number = i + 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(&number, 1, MPI_INT, 0, i, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
    compute(200);
  }
  if (rank == 1) MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  long sum = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  for (int i = 0; rank == 0 && i < messages; ++i) sum += memory[i];
  MPI_Win_unlock(rank, window);
  MPI_Win_free(&window);
  return sum;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int level = 0;
  const int threads = strcmp(what, "threads") == 0 || strcmp(what, "served") == 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
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
  } else if (strcmp(what, "loops") == 0 || strcmp(what, "messages") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = cpu_s();
    if (rank == 0) usleep((unsigned)(atof(argv[2]) * 1e6));
    receive_numbers(what[0] == 'l');
    printf("rank %d: %.3f\n", rank, cpu_s() - before);
  } else if (strcmp(what, "short") == 0) {
    wait_in_turn(atoi(argv[2]));
  } else if (strcmp(what, "threads") == 0) {
    messages = atoi(argv[2]);
    pthread_t one;
    pthread_create(&one, NULL, talk, (void*)1);
    const long sum = (long)talk((void*)0);
    pthread_join(one, NULL);
    printf("rank %d: %ld at level %d\n", rank, sum, level == MPI_THREAD_MULTIPLE);
  } else if (strcmp(what, "target") == 0) {
    messages = atoi(argv[2]);
    const long sum = put_into_window();
    if (rank == 0) printf("%ld\n", sum);
  } else if (strcmp(what, "served") == 0) {
    messages = atoi(argv[2]);
    long sum = 0;
    if (rank == 0)
      serve();
    else
      sum = ask_in_threads();
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
