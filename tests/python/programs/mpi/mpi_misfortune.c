/* A program of MPI alone, whose rank 1 fails: abort, kill or exit; none: all end normally; slow: half a second after
 * MPI_Finalize. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  if (count != 2) return 2;
  int rank = -1, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 1) {
    if (strcmp(arguments[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 41);
    if (strcmp(arguments[1], "kill") == 0) raise(SIGKILL);
    if (strcmp(arguments[1], "exit") == 0) exit(7);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Finalize();
  if (strcmp(arguments[1], "slow") == 0) usleep(500000);
  return 0;
}
