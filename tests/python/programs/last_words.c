/* PE 1 ends with code 3 after shmem_finalize, while PE 0 still has output in a buffer of stdio.
 *
 *   last_words HOW      says: PE 0 flushes some time after the end of PE 1, and ends; stays: it does not end, and
 *                       prints "gone" */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { pause_us = 200000 };

int main(int count, char** arguments) {
  static long other;
  if (count != 2) return 2;
  shmem_init();
  const int pe = shmem_my_pe();
  if (pe == 1) shmem_long_p(&other, getpid(), 0);
  shmem_barrier_all();
  shmem_finalize();
  if (pe == 1) return 3;
  if (pe != 0) return 0;
  printf("the last words of PE 0\n");
  while (kill((pid_t)other, 0) == 0) usleep(1000); /* while it runs, or its parent has not yet noticed its end */
  usleep(pause_us);                                /* a launcher that ends PE 0 because of it has done so by now */
  if (strcmp(arguments[1], "stays") == 0) {
    fputs("gone\n", stderr);
    for (;;) pause();
  }
  return 0;
}
