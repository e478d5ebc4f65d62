/* Tests many times for a message before it is sent: mpi_asks TIMES. First by MPI_Test, then by MPI_Iprobe, then by both
 * in turn. Prints the number of tests by each. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, got, flag, tests = 0, probes = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    for (int i = atoi(argv[1]); i > 0; --i, ++tests) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    for (int i = atoi(argv[1]); i > 0; --i, ++probes) MPI_Iprobe(1, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    for (int i = atoi(argv[1]); i > 0; --i, ++tests, ++probes) {
      MPI_Iprobe(1, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (flag = 0; !flag; ++tests) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    printf("%d %d\n", tests, probes);
    fflush(stdout);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
