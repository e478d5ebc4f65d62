/* Looks up HDF5's functions, with which this program is not linked, before and after it loads the library LIBRARY.
 *
 *   hdf5_names LIBRARY */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

__attribute__((weak)) int H5Fclose(long);
__attribute__((weak)) int H5Fis_hdf5(const char*);

static void look(void* handle) {
  static const char* const names[] = {"H5Fcreate", "H5Fopen", "H5Fclose", "H5Fflush", "H5Fis_hdf5", "H5Fis_accessible"};
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; ++i)
    printf("%s %d\n", names[i], dlsym(handle, names[i]) != NULL);
}

int main(int count, char** arguments) {
  printf("%d %d\n", H5Fclose != NULL, H5Fis_hdf5 != NULL);
  look(RTLD_DEFAULT);
  void* const library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  look(RTLD_DEFAULT);
  look(library);
  int (*const is_hdf5)(const char*) = (int (*)(const char*))dlsym(RTLD_DEFAULT, "H5Fis_hdf5");
  printf("%d\n", is_hdf5("/dev/null") > 0);
  return 0;
}
