/* Each rank writes a file and starts and joins a thread, twice; then rank 0 reports that all has succeeded.
 *
 *   stage_threads FOLDER */
#include <hdf5.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void* allocate(void* where) {
  *(void**)where = malloc(1 << 20);
  return NULL;
}

int main(int count, char** arguments) {
  int provided, rank;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int output = 0; output < 2; ++output) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.%d.h5", arguments[1], rank, output);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (file < 0 || H5Fclose(file) < 0) MPI_Abort(MPI_COMM_WORLD, 3);
    pthread_t thread;
    void* memory = NULL;
    if (pthread_create(&thread, NULL, allocate, &memory) != 0) MPI_Abort(MPI_COMM_WORLD, 4);
    pthread_join(thread, NULL);
    free(memory);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) puts("ended well");
  return 0;
}
