// Heat in a square plate, one block of rows for each rank: every 100th step goes out.
#include <lull/stage.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 240, steps = 400, every = 100 };

static void check(int code) {
  if (code != LULL_STAGE_ERROR) return;
  fprintf(stderr, "diffusion: %s\n", lull_stage_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int first = n * rank / size, rows = n * (rank + 1) / size - first;  // as lull/stage.h cuts n into parts
  const int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  double(*old)[n] = calloc((size_t)rows + 2, sizeof *old), (*new)[n] = calloc((size_t)rows + 2, sizeof *new);
  for (int i = 1; i <= rows; ++i)
    for (int j = 0; j < n; ++j) old[i][j] = abs(first + i - 1 - n / 2) < n / 8 && abs(j - n / 2) < n / 8 ? 100 : 0;

  check(lull_stage_open("diffusion.toml", rank, size));
  check(lull_stage_set("n", n));
  for (int step = 1; step <= steps; ++step) {
    MPI_Sendrecv(old[1], n, MPI_DOUBLE, up, 0, old[rows + 1], n, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(old[rows], n, MPI_DOUBLE, down, 0, old[0], n, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i <= rows; ++i)
      for (int j = 1; j < n - 1; ++j)
        new[i][j] = old[i][j] + 0.2 * (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1] - 4 * old[i][j]);
    memcpy(old[1], new[1], (size_t)rows * sizeof *old);
    if (step % every != 0) continue;
    check(lull_stage_write("temperature", old[1]));
    check(lull_stage_end_iteration(step));
  }
  check(lull_stage_close());
  free(old);
  free(new);
  MPI_Finalize();
  return 0;
}
