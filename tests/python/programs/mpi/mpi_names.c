/* Looks up MPI's names in every possible form; the last line reports a message sent by those found.
 *
 *   mpi_names LIBRARY    the library also by a handle
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#define WEAK __attribute__((weak))
int MPI_Send_c(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm) WEAK;
int MPI_Info_create_env(int, char**, MPI_Info*) WEAK;
int MPI_No_such_function(void) WEAK;
void opal_progress(void) WEAK;

/* Kept in memory, as tables of functions are. */
static void* kept[] = {(void*)MPI_Send_c, (void*)MPI_Info_create_env, (void*)MPI_No_such_function,
                       (void*)opal_progress};

int main(int argc, char** argv) {
  const char* names[] = {"MPI_Send_c", "MPI_Info_create_env", "MPI_No_such_function", "opal_progress", "PMPI_Send_c"};
  void* handle = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
  printf("%d%d%d%d ", MPI_Send_c != NULL, MPI_Info_create_env != NULL, MPI_No_such_function != NULL,
         opal_progress != NULL);
  for (int i = 0; i < 4; ++i) printf("%d", kept[i] != NULL);
  for (int way = 0; way < 2; ++way) {
    printf(" ");
    for (int i = 0; i < 5; ++i) {
      dlerror();
      void* found = dlsym(way == 0 ? RTLD_DEFAULT : handle, names[i]);
      printf("%d%s", found != NULL, (found == NULL) == (dlerror() != NULL) ? "" : "!");
    }
  }
  int rank = 0, sent = 7, got = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
  if (MPI_Send_c != NULL)
    MPI_Send_c(&sent, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
  else
    MPI_Send(&sent, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf(" %d\n", got);
  MPI_Finalize();
  return 0;
}
