/* Puts, gets, atomics, collectives, teams and contexts of known sizes, with two PEs or more, an even number. */
#include <shmem.h>
#include <stdio.h>

int main(void) {
  static long cells[64], flag, sums[2];
  shmem_init();
  const int me = shmem_my_pe(), pes = shmem_n_pes(), right = (me + 1) % pes;
  long mine[8] = {me};
  shmem_long_put(cells, mine, 8, right);
  shmem_putmem(cells + 8, mine, 20, right);
  shmem_put32(cells + 16, mine, 3, right);
  shmem_long_p(&cells[30], me, right);
  shmem_quiet();
  shmem_barrier_all();
  shmem_get64(mine, cells, 4, right);
  if (shmem_long_g(&cells[30], right) != me) return 1;
  shmem_long_atomic_add(&cells[40], 1, 0);
  shmem_int_atomic_fetch_inc((int*)&cells[41], right);
  shmem_long_p(&flag, 1, right);
  shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sums, cells + 50, 2);
  shmem_team_t half;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, me % 2, 2, pes / 2, NULL, 0, &half);
  shmem_broadcastmem(half, cells + 60, cells, 8, 0);
  shmem_ctx_t context;
  shmem_team_create_ctx(half, 0, &context);
  shmem_ctx_long_p(context, &cells[61], 5, 0); /* the first of the team */
  shmem_ctx_quiet(context);
  shmem_ctx_destroy(context);
  shmem_team_sync(half);
  shmem_team_destroy(half);
  shmem_finalize();
  return 0;
}
