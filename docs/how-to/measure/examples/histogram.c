#include <lull/aggregate.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  shmem_init();
  enum { bins_per_pe = 1000, updates = 1000000 };
  static uint64_t bins[bins_per_pe];
  const uint64_t all = bins_per_pe * (uint64_t)shmem_n_pes();
  srand((unsigned)shmem_my_pe());

  lull_aggregator_t* const histogram = lull_aggregator_new(sizeof(uint64_t), NULL);
  if (!histogram) shmem_global_exit(1);
  uint64_t arrived = 0, next = (uint64_t)rand() % all, bin = 0;
  for (int left = updates; lull_aggregator_advance(histogram, left == 0);) {
    for (; left > 0; --left, next = (uint64_t)rand() % all) {
      bin = next % bins_per_pe;
      if (lull_aggregator_push(histogram, &bin, (int)(next / bins_per_pe)) != 1) break;
    }
    for (; lull_aggregator_pull(histogram, &bin, NULL) == 1; ++arrived) ++bins[bin];
  }
  lull_aggregator_free(histogram);

  printf("PE %d: %lu updates arrived\n", shmem_my_pe(), (unsigned long)arrived);
  shmem_finalize();
  return 0;
}
