// What a PE takes: memory of its own, descriptors and CPU time, after its start, and after it has sent something to
// every PE. One JSON object per PE and moment.
#include <dirent.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static long private_kib(void) {
  FILE* const file = fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  long all = 0, one = 0;
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "Private_Dirty: %ld", &one) == 1) all += one;
  if (file) fclose(file);
  return all;
}

static int descriptors(void) {
  DIR* const all = opendir("/proc/self/fd");
  int count = -1;  // that of the list itself
  while (all && readdir(all)) ++count;
  if (all) closedir(all);
  return count - 2;  // "." and ".."
}

static void report(const char* moment) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  const double cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                       1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  printf("{\"moment\": \"%s\", \"pe\": %d, \"kib\": %ld, \"descriptors\": %d, \"cpu_s\": %.4f}\n", moment,
         shmem_my_pe(), private_kib(), descriptors(), cpu_s);
  fflush(stdout);
}

int main(void) {
  static long sum;
  shmem_init();
  shmem_barrier_all();
  report("started");
  shmem_barrier_all();
  const int pes = shmem_n_pes(), me = shmem_my_pe();
  for (int i = 0; i < pes; ++i) shmem_long_atomic_add(&sum, 1, (me + i) % pes);
  shmem_barrier_all();
  report("connected");
  shmem_finalize();
  return sum == pes ? 0 : 1;
}
