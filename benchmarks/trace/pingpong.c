/* pingpong BYTES ROUNDS: rank 0 prints half a round trip in microseconds, the median of a hundred parts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  enum { parts = 100 };
  const int bytes = atoi(argv[1]), rounds = atoi(argv[2]) / parts;
  int rank;
  double took[parts];
  char *buffer = calloc(bytes > 0 ? bytes : 1, 1);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int part = -10; part < parts; part++) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
      if (rank == 0) MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank == 1) MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    if (part >= 0) took[part] = (MPI_Wtime() - begin) / rounds / 2 * 1e6;
  }
  qsort(took, parts, sizeof took[0], order);
  if (rank == 0) printf("%.5f\n", took[parts / 2]);
  MPI_Finalize();
  return 0;
}
