// The program ./app of the documentation's examples, in MPI: a few steps of computing, a halo exchange and a sum.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double halo[512] = {rank}, sum = 0;
  for (int step = 0; step < 20; ++step) {
    const double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < 0.0005) {
    }
    MPI_Sendrecv_replace(halo, 512, MPI_DOUBLE, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, &halo[1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sum += halo[0];
  }
  if (rank == 0) printf("%d ranks: %g\n", size, sum);
  MPI_Finalize();
  return 0;
}
