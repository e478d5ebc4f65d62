/* Spawns itself TIMES times, one process each, and exchanges a message with each over the communicator between them and
 * over both groups merged: mpi_spawn TIMES. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void exchange(MPI_Comm comm, int peer, int first) {
  int mine = 1, theirs = 0;
  if (first) MPI_Send(&mine, 1, MPI_INT, peer, 7, comm);
  MPI_Recv(&theirs, 1, MPI_INT, peer, 7, comm, MPI_STATUS_IGNORE);
  if (!first) MPI_Send(&mine, 1, MPI_INT, peer, 7, comm);
}

int main(int argc, char** argv) {
  MPI_Comm parent, between, merged;
  int sum = 0, one = 1, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = parent == MPI_COMM_NULL ? atoi(argv[1]) : 1; i > 0; --i) {
    between = parent;
    if (parent == MPI_COMM_NULL)
      MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
    if (rank == 0) exchange(between, 0, parent == MPI_COMM_NULL);
    MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &merged);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&between);
  }
  if (parent == MPI_COMM_NULL && rank == 0) printf("%d together\n", sum);
  MPI_Finalize();
  return 0;
}
