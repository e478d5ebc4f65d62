/* Loads a library that is linked with MPI, late and with local scope, as Python loads its modules: mpi_late LIBRARY */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  void (*run)(void) = (void (*)(void))dlsym(library, "run_with_mpi");
  run();
  return 0;
}
