// Every kind of request in each round: receives and sends that complete out of order, in two communicators, while
// collectives, blocking and not, go on. The argument is the number of rounds.
#include <mpi.h>
#include <stdlib.h>

enum { longest = 4000, others_most = 64 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > others_most) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  double* data = calloc(2 * (size_t)size * longest, sizeof(double));
  double sums[2] = {rank, 1}, total[2];
  MPI_Request requests[2 * others_most + 1];
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  for (int round = 0; round < rounds; ++round) {
    const int count = round % 4 == 3 ? longest : 100;  // long ones ask first
    int made = 0;
    for (int other = 0; other < size; ++other)
      if (other != rank)
        MPI_Irecv(data + (size_t)other * longest, count, MPI_DOUBLE, other, round, MPI_COMM_WORLD, &requests[made++]);
    MPI_Iallreduce(sums, total, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[made++]);
    for (int other = 0; other < size; ++other)
      if (other != rank)
        MPI_Isend(data + (size_t)(size + rank) * longest, count, MPI_DOUBLE, other, round, MPI_COMM_WORLD,
                  &requests[made++]);
    for (int left = made, which; left > 0; --left) MPI_Waitany(made, requests, &which, MPI_STATUS_IGNORE);
    MPI_Bcast(data, 100, MPI_DOUBLE, 0, half);
    MPI_Allreduce(sums, total, 2, MPI_DOUBLE, MPI_SUM, half);
    MPI_Alltoall(data, 10, MPI_DOUBLE, data + (size_t)size * longest, 10, MPI_DOUBLE, MPI_COMM_WORLD);
  }
  free(data);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
