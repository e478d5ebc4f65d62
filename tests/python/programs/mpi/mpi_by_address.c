/* One rank calls MPI by name, the others through addresses looked up in a handle, like ctypes, cffi or Julia; their
 * outputs must agree: mpi_by_address LIBRARY. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#define BY(name) ((__typeof__(&name))found(#name))
static void* library;
static void* found(const char* name) { return dlsym(library, name); }

int main(int argc, char** argv) {
  library = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
  int rank, size, size_by_address, mine, theirs = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  BY(MPI_Comm_size)(MPI_COMM_WORLD, &size_by_address);
  mine = rank;
  const int other = rank ^ 1;
  for (int i = 0; i < 10 && other < size; ++i) {
    if (rank == 0) {
      BY(MPI_Send)(&mine, 1, MPI_INT, other, 5, MPI_COMM_WORLD);
      BY(PMPI_Recv)(&theirs, 1, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&theirs, 1, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&mine, 1, MPI_INT, other, 5, MPI_COMM_WORLD);
    }
  }
  printf("rank %d of %d, by address %d, heard of %d\n", rank, size, size_by_address, theirs);
  MPI_Finalize();
  return 0;
}
