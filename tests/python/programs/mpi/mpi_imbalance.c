/* Even ranks compute US_A, odd ones US_B, before each MPI_Allreduce, in which the faster ones wait.
 *
 *   mpi_imbalance TURNS|TIMEs [SEED [US_A [US_B]]]     by default 3000 and 1000 microseconds
 *
 * Each rank also prints what share of the time it used its core: with half of the ranks waiting two thirds of the time,
 * the ideal is 100 % and 33 %.
 */
#include "verified.h"

static double cpu_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  begin(argc, argv);
  seed = (uint64_t)argument(argc, argv, 2, 1);
  const double us = rank % 2 == 0 ? argument(argc, argv, 3, 3000) : argument(argc, argv, 4, 1000);
  const double cpu_at_begin_s = cpu_s();
  for (; goes_on(); ++turn) {
    uint64_t sum = 0, expected = 0;
    for (int from = 0; from < ranks; ++from) expected += key_of(from, 0);
    compute(us);
    const uint64_t mine = key_of(rank, 0);
    MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    expect_number("MPI_Allreduce", sum, expected);
  }
  printf("rank %d of %d: used its core for %.0f %% of the time\n", rank, ranks,
         100 * (cpu_s() - cpu_at_begin_s) / (now_s() - began_s));
  print_result();
  return MPI_Finalize();
}
