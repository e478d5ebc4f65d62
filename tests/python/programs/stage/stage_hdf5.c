/* Calls only MPI and HDF5: each rank writes a file in each of some outputs, and prints its rank and the size of the
 * world.
 *
 *   stage_hdf5 FOLDER OUTPUTS [HOW]      files FOLDER/out.OUTPUT.RANK.h5
 *
 * late     a dataset stays open at H5Fclose
 * again    the last file is read, changed, rewritten and renamed
 * stop     makes FOLDER/ready, and FOLDER/done before MPI_Finalize; begins when FOLDER/go exists
 * open     the last file stays open until the process exits */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                          \
  do                                                                              \
    if (!(condition)) {                                                           \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 3);                                               \
    }                                                                             \
  while (0)

static void say(const char* folder, const char* what) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, what);
  FILE* const file = fopen(path, "w");
  CHECK(file != NULL && fclose(file) == 0);
}

static void wait_for(const char* folder, const char* what) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, what);
  while (access(path, F_OK) != 0) usleep(1000);
}

static void write_one(const char* path, int rank, int output, int late, int open) {
  enum { rows = 64, columns = 100 };
  double values[rows][columns];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) values[i][j] = output * 1000 + rank * 100 + i + 0.01 * j;
  const hsize_t size[2] = {rows, columns}, chunk[2] = {16, 50};
  const hid_t file = H5Fcreate(path, output % 2 ? H5F_ACC_TRUNC : H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT);
  CHECK(file >= 0);
  char name[4096];
  CHECK(H5Fget_name(file, name, sizeof name) == (ssize_t)strlen(path) && strcmp(name, path) == 0);
  CHECK(H5Fget_name(file, NULL, 0) == (ssize_t)strlen(path));
  const hid_t space = H5Screate_simple(2, size, NULL), chunked = H5Pcreate(H5P_DATASET_CREATE);
  CHECK(H5Pset_chunk(chunked, 2, chunk) >= 0 && H5Pset_deflate(chunked, 4) >= 0);
  CHECK(H5Pset_obj_track_times(chunked, 0) >= 0); /* otherwise the file contains the time of day */
  const hid_t plain = H5Pcreate(H5P_DATASET_CREATE);
  CHECK(H5Pset_obj_track_times(plain, 0) >= 0);
  const hid_t a = H5Dcreate2(file, "temperature", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, chunked, H5P_DEFAULT);
  const hid_t b = H5Dcreate2(file, "pressure", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, plain, H5P_DEFAULT);
  CHECK(H5Dwrite(a, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  CHECK(H5Dwrite(b, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Pclose(plain);
  H5Pclose(chunked);
  H5Sclose(space);
  H5Dclose(a);
  if (!late) H5Dclose(b);
  if (open) return;
  CHECK(H5Fclose(file) >= 0);
  if (late) {
    values[0][0] = -1;
    CHECK(H5Dwrite(b, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(b);
  }
}

int main(int argc, char** argv) {
  int rank, size, *tag, found;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag, &found);
  CHECK(found && *tag >= 32767);
  int sum = rank + 1, ranks = 0;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size * (size + 1) / 2);
  MPI_Group group;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Group_size(group, &ranks);
  MPI_Group_free(&group);
  CHECK(ranks == size);
  const int outputs = atoi(argv[2]);
  const char* const how = argc > 3 ? argv[3] : "";
  const int stop = strcmp(how, "stop") == 0;
  char path[4096], moved[4096];
  if (stop && rank == 0) say(argv[1], "ready");
  if (stop) wait_for(argv[1], "go");
  for (int output = 0; output < outputs; ++output) {
    snprintf(path, sizeof path, "%s/out.%d.%d.h5", argv[1], output, rank);
    write_one(path, rank, output, strcmp(how, "late") == 0, strcmp(how, "open") == 0 && output + 1 == outputs);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (strcmp(how, "again") == 0) { /* the file just written is read, changed, and renamed */
    CHECK(H5Fis_hdf5(path) > 0);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(file >= 0 && H5Ldelete(file, "temperature", H5P_DEFAULT) >= 0 && H5Fclose(file) >= 0);
    write_one(path, rank, 1, 0, 0);
    snprintf(moved, sizeof moved, "%s.moved", path);
    CHECK(rename(path, moved) == 0);
  }
  printf("%d of %d\n", rank, size);
  fflush(stdout);
  if (stop && rank == 0) say(argv[1], "done");
  MPI_Finalize();
  return 0;
}
