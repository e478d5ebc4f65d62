/* What OpenSHMEM 1.6 adds: a library of the program that initialises it again, blocks, signals, sums and sessions. */
#include <shmem.h>

static void library(int right) {
  static long cells[64], mine[12], sum, one = 1;
  static uint64_t signal;
  shmem_init();
  shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, NULL, 0);
  shmem_long_ibput(cells, mine, 4, 3, 3, 2, right);
  shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
  shmem_pe_quiet(&right, 1);
  shmem_ibget16(mine, cells, 4, 2, 2, 5, right);
  shmem_signal_add(&signal, 1, right);
  shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 1);
  shmem_long_sum_inscan(SHMEM_TEAM_WORLD, &sum, &one, 1);
  shmem_finalize();
}

int main(void) {
  shmem_init();
  library((shmem_my_pe() + 1) % shmem_n_pes());
  shmem_finalize();
  return 0;
}
