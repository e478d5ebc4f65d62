// Barriers separate, signals follow their data, waits end, and no wake-up is missed.
#include <time.h>

#include <atomic>
#include <vector>

#include "check.hpp"

namespace {

void nap(long nanoseconds) {
  const timespec time{0, nanoseconds};
  nanosleep(&time, nullptr);
}

void barriers_separate(int me, int pes) {
  auto* const round = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  for (long i = 1; i <= 300; ++i) {
    if (i % 100 == me) nap(3'000'000);  // a PE is late at times, long enough for the others to sleep
    *round = i;
    shmem_barrier_all();
    CHECK(shmem_long_g(round, (me + 1) % pes) == i);
    shmem_barrier_all();
  }
  shmem_free(round);
}

void a_token_goes_round(int me, int pes) {
  auto* const token = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  for (long lap = 1; lap <= 200; ++lap) {
    if (me == 0) shmem_long_p(token, lap, 1 % pes);
    shmem_long_wait_until(token, SHMEM_CMP_GE, lap);
    if (me != 0) shmem_long_p(token, lap, (me + 1) % pes);
  }
  shmem_barrier_all();
  shmem_free(token);
}

void a_signal_comes_after_its_data(int me, int pes) {
  constexpr std::size_t words = 300'000;  // 2.4 MB: large enough for rendezvous between nodes
  auto* const data = static_cast<std::uint64_t*>(shmem_calloc(words, sizeof(std::uint64_t)));
  auto* const signal = static_cast<std::uint64_t*>(shmem_calloc(1, sizeof(std::uint64_t)));
  const int next = (me + 1) % pes;
  std::vector<std::uint64_t> source(words);
  for (std::uint64_t round = 1; round <= 10; ++round) {
    const std::size_t count = round % 2 ? words : 100;
    for (std::size_t i = 0; i < count; ++i) source[i] = round * 1'000'000 + i;
    shmem_putmem_signal_nbi(data, source.data(), count * sizeof(std::uint64_t), signal, 1, SHMEM_SIGNAL_ADD, next);
    CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_GE, round) >= round);
    for (std::size_t i = 0; i < count; ++i) CHECK(data[i] == round * 1'000'000 + i);
    shmem_barrier_all();
  }
  shmem_free(signal);
  shmem_free(data);
}

// PE 0 computes without calling the library; puts, gets and atomics of the others to it must complete.
void a_computing_pe_is_served(int me, int pes) {
  auto* const word = static_cast<long*>(shmem_calloc(2, sizeof(long)));
  if (me == 0) {
    const std::atomic_ref<long> seen(*word);
    while (seen.load() < pes - 1) nap(100'000);
  } else {
    CHECK(shmem_long_g(word + 1, 0) == 0);
    shmem_long_atomic_fetch_inc(word, 0);
  }
  shmem_barrier_all();
  shmem_free(word);
}

}  // namespace

int main() {
  shmem_init();
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  barriers_separate(me, pes);
  a_token_goes_round(me, pes);
  a_signal_comes_after_its_data(me, pes);
  a_computing_pe_is_served(me, pes);
  finish();
}
