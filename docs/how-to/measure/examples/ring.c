#include <shmem.h>
#include <stdio.h>

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  uint64_t* const inbox = shmem_calloc(2, sizeof(uint64_t)); /* value, signal */

  const uint64_t greeting = 100 + (uint64_t)me;
  shmem_putmem_signal(&inbox[0], &greeting, sizeof greeting, &inbox[1], 1, SHMEM_SIGNAL_SET, (me + 1) % pes);
  shmem_signal_wait_until(&inbox[1], SHMEM_CMP_EQ, 1);
  printf("PE %d of %d got %lu\n", me, pes, (unsigned long)inbox[0]);

  shmem_barrier_all();
  shmem_free(inbox);
  shmem_finalize();
  return 0;
}
