/* MPI and OpenSHMEM in one program: PEs are ranks, and the two take turns on the same memory.
 *
 *   with_mpi FIRST-TO-BEGIN FIRST-TO-END      each of them `mpi` or `shmem` */
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 50, words = 20000 };

static long inbox[words], outbox[words];

#define CHECK(condition)                                                        \
  if (!(condition)) {                                                           \
    fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);   \
    MPI_Abort(MPI_COMM_WORLD, 1);                                               \
  }

static void exchange(void) {
  const int pe = shmem_my_pe(), pes = shmem_n_pes();
  const int next = (pe + 1) % pes, before = (pe + pes - 1) % pes;
  int rank = -1, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(rank == pe && size == pes);
  long* const heap = shmem_malloc(words * sizeof(long));
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < words; ++i) outbox[i] = 1000L * pe + i + round;
    /* by OpenSHMEM to the next, into static data */
    shmem_long_put(inbox, outbox, words, next);
    shmem_barrier_all();
    CHECK(inbox[words - 1] == 1000L * before + words - 1 + round);
    /* by MPI onwards, out of symmetric memory into symmetric memory */
    MPI_Sendrecv(inbox, words, MPI_LONG, next, 7, heap, words, MPI_LONG, before, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(heap[1] == 1000L * ((before + pes - 1) % pes) + 1 + round);
    long sum = 0;
    MPI_Allreduce(&heap[0], &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 500L * pes * (pes - 1) + (long)pes * round);
    shmem_long_atomic_add(&heap[2], 1, next);
    shmem_barrier_all();
  }
  shmem_free(heap);
  if (pe == 0) printf("%d ranks are PEs\n", size);
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const int mpi_begins = strcmp(arguments[1], "mpi") == 0, mpi_ends = strcmp(arguments[2], "mpi") == 0;
  if (mpi_begins) MPI_Init(&count, &arguments);
  shmem_init();
  if (!mpi_begins) MPI_Init(&count, &arguments);
  exchange();
  if (mpi_ends) MPI_Finalize();
  shmem_finalize();
  if (!mpi_ends) MPI_Finalize();
  return 0;
}
