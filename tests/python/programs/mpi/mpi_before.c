/* A program that is not linked with MPI and loads a library late: mpi_before PART LIBRARY. It looks up names before,
 * and then calls MPI through the part that is linked with it, and through addresses from a handle of the library, from
 * which it prints the size of the world. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int MPI_Initialized(int*) __attribute__((weak));

int main(int argc, char** argv) {
  printf("%d%d%d\n", MPI_Initialized != NULL, dlsym(RTLD_DEFAULT, "MPI_Init") != NULL, dlerror() != NULL);
  void* part = argc > 2 ? dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL) : NULL;
  void* library = part != NULL ? dlopen(argv[2], RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  printf("%d%d%d\n", MPI_Initialized != NULL, dlsym(RTLD_DEFAULT, "MPI_Init") != NULL,
         dlsym(library, "MPI_Init") != NULL);
  fflush(stdout);
  int (*initialized)(int*) = (int (*)(int*))dlsym(library, "MPI_Initialized");
  int is = 0;
  initialized(&is);
  printf("%d\n", is);
  ((void (*)(void))dlsym(part, "run_with_mpi"))();
  initialized(&is);
  printf("%d\n", is);
  return 0;
}
