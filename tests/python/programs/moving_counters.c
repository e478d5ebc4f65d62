/* A program during which meters move: moving_counters FILE CONTENT [FILE CONTENT]... writes each content into its file
 * between shmem_init and shmem_finalize. */
#include <shmem.h>
#include <stdio.h>

int main(int argc, char** argv) {
  shmem_init();
  for (int i = 1; i + 1 < argc; i += 2) {
    FILE* file = fopen(argv[i], "r+");
    if (!file) return 1;
    fprintf(file, "%s\n", argv[i + 1]);
    if (fclose(file) != 0) return 1;
  }
  shmem_finalize();
  return 0;
}
