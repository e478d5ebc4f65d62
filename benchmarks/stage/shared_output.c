/* All ranks write steps of output into one file, in turn with a pause that takes the place of computing.
 *
 *   shared_output FILE PATTERN KIB STEPS PAUSE_MS      KIB of each rank in a step
 *
 * contiguous   by MPI_File_write_at_all, a block of each rank
 * strided      by MPI_File_write_all, pieces of 4 KiB of the ranks in turn
 * hdf5         a dataset of each step, collectively, if compiled with -DWITH_HDF5
 *
 * Prints the seconds that the rank which took longest spent in calls of output, and in all. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef WITH_HDF5
#include <hdf5.h>
#endif

enum { piece = 4096 };

#define CALL(call)                                            \
  do                                                          \
    if ((call) != MPI_SUCCESS) {                              \
      fprintf(stderr, "%s:%d: failed\n", __FILE__, __LINE__); \
      MPI_Abort(MPI_COMM_WORLD, 3);                           \
    }                                                         \
  while (0)

static int rank, size;

static void pause_ms(int milliseconds) {
  const struct timespec length = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  nanosleep(&length, NULL);
}

#ifdef WITH_HDF5
static hid_t open_hdf5(const char* path) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  return file;
}

static void write_hdf5(hid_t file, int step, const char* data, long bytes) {
  const hsize_t all = (hsize_t)(bytes * size), mine = (hsize_t)bytes, begin = (hsize_t)(bytes * rank);
  char name[32];
  snprintf(name, sizeof name, "step%d", step);
  const hid_t space = H5Screate_simple(1, &all, NULL), memory = H5Screate_simple(1, &mine, NULL);
  const hid_t set = H5Dcreate2(file, name, H5T_NATIVE_CHAR, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &begin, NULL, &mine, NULL);
  if (H5Dwrite(set, H5T_NATIVE_CHAR, memory, space, transfer, data) < 0) MPI_Abort(MPI_COMM_WORLD, 3);
  H5Pclose(transfer);
  H5Dclose(set);
  H5Sclose(memory);
  H5Sclose(space);
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 6) MPI_Abort(MPI_COMM_WORLD, 2);
  const int strided = strcmp(argv[2], "strided") == 0, by_hdf5 = strcmp(argv[2], "hdf5") == 0;
  const long bytes = atol(argv[3]) * 1024;
  const int steps = atoi(argv[4]), milliseconds = atoi(argv[5]);
  char* const data = malloc((size_t)bytes);
  memset(data, rank + 1, (size_t)bytes);
  MPI_Datatype one, type;
  MPI_Type_contiguous(piece, MPI_BYTE, &one);
  MPI_Type_create_resized(one, 0, (MPI_Aint)piece * size, &type);
  MPI_Type_commit(&type);
  MPI_File file;
  long h5 = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  double in_output = 0;
  for (int step = 0; step < steps; ++step) {
    pause_ms(milliseconds);
    data[0] = (char)step;
    const double from = MPI_Wtime();
    const MPI_Offset at = (MPI_Offset)step * bytes * size;
#ifdef WITH_HDF5
    if (by_hdf5) {
      if (step == 0) h5 = open_hdf5(argv[1]);
      write_hdf5(h5, step, data, bytes);
      if (step == steps - 1) H5Fclose(h5);
    }
#endif
    if (!by_hdf5) {
      if (step == 0)
        CALL(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
      if (strided) {
        CALL(MPI_File_set_view(file, at + rank * piece, MPI_BYTE, type, "native", MPI_INFO_NULL));
        CALL(MPI_File_write_all(file, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
      } else {
        CALL(MPI_File_write_at_all(file, at + rank * bytes, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
      }
      if (step == steps - 1) CALL(MPI_File_close(&file));
    }
    in_output += MPI_Wtime() - from;
  }
  double mine[2] = {in_output, MPI_Wtime() - begin}, most[2];
  MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.6f %.6f\n", most[0], most[1]);
  (void)h5;
  MPI_Finalize();
  return 0;
}
