#include <mpi.h>
#include <shmem.h>
#include <stdio.h>

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  shmem_init();
  const int pe = shmem_my_pe(), pes = shmem_n_pes();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  /* One-sided into the neighbour's memory, then a sum by MPI of what has arrived. */
  static long inbox;
  shmem_long_p(&inbox, pe + 1, (pe + 1) % pes);
  shmem_barrier_all();
  long sum = 0;
  MPI_Allreduce(&inbox, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  printf("PE %d is rank %d; sum %ld\n", pe, rank, sum);

  shmem_finalize();
  MPI_Finalize();
  return 0;
}
