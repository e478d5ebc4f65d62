/* Calls MPI and lull/stage.h: each rank writes its block of two variables in each of some iterations.
 *
 *   stage_blocks DESCRIPTION OUTPUTS [stop FOLDER]
 *
 * With -DWITH_HDF5 each rank also writes its own file by HDF5: DESCRIPTION.RANK.h5
 *
 * stop     makes FOLDER/ready, and FOLDER/done before MPI_Finalize; begins when FOLDER/go exists */
#include <lull/stage.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef WITH_HDF5
#include <hdf5.h>
#endif

#define CHECK(condition)                                                                                        \
  do                                                                                                            \
    if (!(condition)) {                                                                                         \
      fprintf(stderr, "%s:%d: not true: %s: %s\n", __FILE__, __LINE__, #condition, lull_stage_error());         \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                                             \
    }                                                                                                           \
  while (0)

enum { rows = 12, columns = 10 };

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

#ifdef WITH_HDF5
static void write_hdf5(const char* description, int rank) {
  char path[4096];
  snprintf(path, sizeof path, "%s.%d.h5", description, rank);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
  const hid_t made = H5Dcreate2(file, "rank", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  CHECK(H5Dwrite(made, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &rank) >= 0);
  CHECK(H5Sclose(space) >= 0 && H5Fclose(file) >= 0); /* it stays open until its dataset is closed */
  CHECK(H5Dclose(made) >= 0);
}
#endif

int main(int argc, char** argv) {
  int rank, size, failed = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int stop = argc > 4;
  CHECK(lull_stage_open(argv[1], rank, size) == LULL_STAGE_OK);
  CHECK(lull_stage_write("temperature", &rank) == LULL_STAGE_ERROR); /* "rows" has no value */
  CHECK(strstr(lull_stage_error(), "the parameter rows has no value") != NULL);
  CHECK(lull_stage_set("rows", rows) == LULL_STAGE_OK && lull_stage_set("columns", columns) == LULL_STAGE_OK);
  const int first = rows * rank / size, mine = rows * (rank + 1) / size - first;
  CHECK(lull_stage_bytes("temperature") == (int64_t)(sizeof(double) * mine * columns));
  CHECK(strcmp(lull_stage_type("flow/cell"), "int32") == 0 && lull_stage_dimensions("flow/cell") == 2);
  const int64_t offset[2] = {first, 0}, count[2] = {mine, columns};
  CHECK(lull_stage_write("flow/cell", &rank) == LULL_STAGE_ERROR); /* it has no place */
  CHECK(lull_stage_place("flow/cell", offset, count) == LULL_STAGE_OK);
  if (stop && rank == 0) say(argv[4], "ready");
  if (stop) wait_for(argv[4], "go");
  for (int output = 0; output < atoi(argv[2]); ++output) {
    double temperature[rows][columns];
    int32_t cell[rows][columns];
    for (int i = 0; i < mine; ++i)
      for (int j = 0; j < columns; ++j) {
        cell[i][j] = (first + i) * columns + j;
        temperature[i][j] = 1000 * output + cell[i][j];
      }
    CHECK(lull_stage_write("temperature", temperature) == LULL_STAGE_OK);
    CHECK(lull_stage_write("flow/cell", cell) == LULL_STAGE_OK);
    if (lull_stage_end_iteration(10 * output) == LULL_STAGE_ERROR) {
      failed = 1;
      fprintf(stderr, "rank %d: %s\n", rank, lull_stage_error());
    }
    MPI_Barrier(MPI_COMM_WORLD);
#ifdef WITH_HDF5
    write_hdf5(argv[1], rank);
#endif
  }
  CHECK(lull_stage_close() == LULL_STAGE_OK);
  CHECK(lull_stage_end_iteration(0) == LULL_STAGE_ERROR);
  printf("%d of %d\n", rank, size);
  fflush(stdout);
  if (stop && rank == 0) say(argv[4], "done");
  MPI_Finalize();
  return failed;
}
