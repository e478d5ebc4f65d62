// No wake-up is missed: PEs that outnumber the cores wait for each other, nearly always asleep, until they have slept
// the given number of times in total; no sleep may have ended by its time-out.
//
//   run_stress_waiting [SLEEPS] (default 20000), with LULL_WAIT_YIELDS=0 so that a wait sleeps at once
#include <string>

#include "check.hpp"
#include "shmemx.h"

int main(int argc, char** argv) {
  const std::uint64_t wanted = argc > 1 ? std::stoull(argv[1]) : 20'000;
  shmem_init();
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  auto* const token = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  auto* const slept = static_cast<std::uint64_t*>(shmem_calloc(2, sizeof(std::uint64_t)));
  auto* const enough = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  shmemx_wait_stats_t stats{};
  std::uint64_t counted = 0;
  long lap = 0;
  while (!*enough) {
    // A ring of puts, then a barrier: both kinds of doorbell ring, after a store and after an atomic.
    for (int i = 0; i < 50; ++i) {
      ++lap;
      if (me == 0) shmem_long_p(token, lap, 1 % pes);
      shmem_long_wait_until(token, SHMEM_CMP_GE, lap);
      if (me != 0) shmem_long_p(token, lap, (me + 1) % pes);
    }
    shmemx_wait_stats(&stats);
    shmem_uint64_atomic_add(slept, stats.sleeps - counted, 0);
    counted = stats.sleeps;
    shmem_barrier_all();
    if (me == 0 && *slept >= wanted)
      for (int pe = 0; pe < pes; ++pe) shmem_long_p(enough, 1, pe);
    shmem_barrier_all();
  }
  shmemx_wait_stats(&stats);
  CHECK(stats.missed == 0);
  CHECK(stats.timeouts == 0);
  if (me == 0) std::printf("%llu sleeps\n", static_cast<unsigned long long>(*slept));
  shmem_finalize();
}
