/* All ranks write steps of output into one file by MPI-IO, in pieces of 4 KiB in turn, collectively.
 *
 *   shared_steps FILE KIB STEPS [wait]      KIB of each rank in a step
 *
 * wait: before its last step, rank 0 writes the number of its process into the file `ready`, and all wait for `go`. An
 * error of MPI-IO ends the program with 3, after a line. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { piece = 4096 };

static void check(int result) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  if (result == MPI_SUCCESS) return;
  int kind;
  MPI_Error_string(result, text, &length);
  MPI_Error_class(result, &kind);
  printf("%s%s\n", text, kind == MPI_ERR_NO_SPACE ? " (no space)" : "");
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void wait_for_go(int rank) {
  if (rank == 0) {
    FILE* const ready = fopen("ready.part", "w");
    fprintf(ready, "%d", (int)getpid());
    fclose(ready);
    rename("ready.part", "ready");
    while (access("go", F_OK) != 0) usleep(1000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_File file;
  MPI_Datatype one, type;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const int bytes = atoi(argv[2]) * 1024, steps = atoi(argv[3]);
  char* const data = malloc((size_t)bytes);
  MPI_Type_contiguous(piece, MPI_BYTE, &one);
  MPI_Type_create_resized(one, 0, (MPI_Aint)piece * size, &type);
  MPI_Type_commit(&type);
  check(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  for (int step = 0; step < steps; ++step) {
    if (argc > 4 && step == steps - 1) wait_for_go(rank);
    for (int i = 0; i < bytes; ++i) data[i] = (char)(step * 37 + rank * 11 + i / piece);
    check(MPI_File_set_view(file, (MPI_Offset)step * bytes * size + rank * piece, MPI_BYTE, type, "native",
                            MPI_INFO_NULL));
    check(MPI_File_write_all(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  check(MPI_File_close(&file));
  MPI_Finalize();
  return 0;
}
