/* completed_elsewhere ROUNDS: in each round, the main thread posts requests that a second thread completes, as well as
   some of its own. Prints "done" on rank 0. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { requests = 6 };
static MPI_Request posted[requests];
static pthread_barrier_t both;
static int rounds;

static void *complete(void *unused) {
  for (int i = 0; i < rounds; i++) {
    pthread_barrier_wait(&both);
    MPI_Waitall(requests, posted, MPI_STATUSES_IGNORE);
    pthread_barrier_wait(&both);
  }
  return unused;
}

int main(int argc, char **argv) {
  int provided, rank, size, sent = 7, received[requests];
  rounds = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (provided == MPI_THREAD_MULTIPLE) {
    pthread_t other;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&other, NULL, complete, NULL);
    for (int i = 0; i < rounds; i++) {
      MPI_Request mine[2];
      for (int k = 0; k < requests; k += 2) {
        MPI_Irecv(&received[k], 1, MPI_INT, (rank + size - 1) % size, k, MPI_COMM_WORLD, &posted[k]);
        MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % size, k, MPI_COMM_WORLD, &posted[k + 1]);
      }
      MPI_Irecv(&received[1], 1, MPI_INT, (rank + size - 1) % size, 99, MPI_COMM_WORLD, &mine[0]);
      MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % size, 99, MPI_COMM_WORLD, &mine[1]);
      pthread_barrier_wait(&both);
      MPI_Waitall(2, mine, MPI_STATUSES_IGNORE);
      pthread_barrier_wait(&both);
    }
    pthread_join(other, NULL);
    pthread_barrier_destroy(&both);
  }
  if (rank == 0) puts("done");
  MPI_Finalize();
  return 0;
}
