/* Several threads of each process communicate with those of the next at once (MPI_THREAD_MULTIPLE), each over its own
 * communicator and all over that of all; communicators and types are made and freed in between.
 *
 *   mpi_threads THREADS ROUNDS */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 16 };
static int rank, size, rounds;
static MPI_Comm of_thread[most];

#define CHECK(condition)                                                     \
  if (!(condition)) {                                                        \
    fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
    MPI_Abort(MPI_COMM_WORLD, 3);                                            \
  }

static void* work(void* number) {
  const int me = (int)(long)number, right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int round = 0; round < rounds; ++round) {
    int sent = 1000 * rank + 10 * round + me, got = -1;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(&got, 1, MPI_INT, left, me, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&sent, 1, MPI_INT, right, me, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, round % 2 ? statuses : MPI_STATUSES_IGNORE);
    CHECK(got == 1000 * left + 10 * round + me);
    int sum = 0;
    MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, of_thread[me]);
    CHECK(sum == 1000 * size * (size - 1) / 2 + size * (10 * round + me));
    MPI_Datatype type;
    MPI_Type_contiguous(1 + round % 5, MPI_INT, &type);
    MPI_Type_commit(&type);
    int many[5] = {0};
    MPI_Sendrecv_replace(many, 1, type, right, 100 + me, left, 100 + me, MPI_COMM_WORLD, &statuses[0]);
    int count = -1;
    MPI_Get_count(&statuses[0], type, &count);
    CHECK(count == 1);
    MPI_Type_free(&type);
    MPI_Comm copy;
    MPI_Comm_dup(of_thread[me], &copy);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int threads = atoi(argv[1]);
  rounds = atoi(argv[2]);
  pthread_t all[most];
  for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &of_thread[i]);
  for (long i = 0; i < threads; ++i) pthread_create(&all[i], NULL, work, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  if (rank == 0) printf("%d threads\n", threads);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
