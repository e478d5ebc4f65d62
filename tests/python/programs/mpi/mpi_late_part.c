/* The library that mpi_late loads. */
#include <mpi.h>
#include <stdio.h>

void run_with_mpi(void) {
  int rank, sum = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d\n", sum);
  MPI_Finalize();
}
