// A file that processes of the program and one that they spawn write together: shared_spawned FILE
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Comm parent, between, all;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(argv[0], argv + 1, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
  else
    between = parent;
  MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &all);
  int rank, size;
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  MPI_File file;
  MPI_File_open(all, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, (MPI_Offset)rank * (int)sizeof rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_set_size(file, (MPI_Offset)size * (int)sizeof rank);
  MPI_File_close(&file);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&between);
  MPI_Finalize();
  return argc != 2;
}
