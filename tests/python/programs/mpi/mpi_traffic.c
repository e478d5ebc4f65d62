/* Messages and collectives of every size among all processes, in one thread: a program for counting.
 *
 *   mpi_traffic ROUNDS */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = argc > 1 ? atoi(argv[1]) : 10, most = 1 << 17;
  char *out = calloc((size_t)most, 1), *in = malloc((size_t)most * 2);
  MPI_Comm row;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
  for (int round = 0; round < rounds; ++round) {
    const int bytes = (1 << round % 18) + round, to = (rank + 1 + round % (size - 1)) % size,
              from = (rank + size - 1 - round % (size - 1)) % size;
    MPI_Request requests[3];
    MPI_Irecv(in, most, MPI_BYTE, from, round, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes % most, MPI_BYTE, to, round, MPI_COMM_WORLD, &requests[1]);
    if (round % 3 == 0) {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (round % 3 == 1) {
      int index;
      MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
      MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    } else {
      int flag = 0;
      while (!flag) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    if (rank % 2 == 0 && rank + 1 < size) {
      MPI_Send(out, round, MPI_DOUBLE, rank + 1, 3, MPI_COMM_WORLD);
      MPI_Recv(in, most, MPI_BYTE, MPI_ANY_SOURCE, 4, row, MPI_STATUS_IGNORE);
    } else if (rank % 2 == 1) {
      MPI_Recv(in, most, MPI_BYTE, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Ssend(out, round, MPI_SHORT, 0, 4, row);
    }
    MPI_Sendrecv(out, round, MPI_INT, to, 5, in, most, MPI_BYTE, from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double mine = rank, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(out, 100, MPI_INT, round % size, MPI_COMM_WORLD);
    MPI_Barrier(row);
    MPI_Allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  }
  MPI_Comm_free(&row);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
