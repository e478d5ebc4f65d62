#include <errno.h>
#include <shmem.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "base/clock.hpp"
#include "calibrate/parts.hpp"
#include "wait/timer_slack.hpp"

namespace lull::calibrate {
namespace {

constexpr std::array<std::int64_t, 4> lengths_ns{20'000, 200'000, 2'000'000, 20'000'000};
constexpr int batches = 5;  // CPU time is measured per batch, because it is too coarse for a single wait

struct meeting {
  alignas(64) std::int64_t stored_at;  // in the waiter's memory: when the waker stored it
  alignas(64) std::uint64_t ready;     // in the waker's memory: the number of the wait that begins
};

struct observed {
  std::vector<double> late_ns, waker_ns, cpu_ns;
};

// PE 0 waits; PE 1 stores `length_ns` after it has been notified that the wait begins.
observed wait_for(meeting& met, std::int64_t length_ns, int waits, std::uint64_t& number) {
  observed seen;
  const int per_batch = std::max(1, waits / batches);
  for (int batch = 0; batch < batches; ++batch) {
    const std::int64_t cpu = process_cpu_ns();
    for (int i = 0; i < per_batch; ++i) {
      ++number;
      if (shmem_my_pe() == 0) {
        const std::int64_t before = met.stored_at;
        shmem_uint64_p(&met.ready, number, 1);
        shmem_int64_wait_until(&met.stored_at, SHMEM_CMP_NE, before);
        seen.late_ns.push_back(static_cast<double>(now_ns() - met.stored_at));
      } else if (shmem_my_pe() == 1) {
        while (shmem_uint64_test(&met.ready, SHMEM_CMP_GE, number) == 0) {
        }
        const std::int64_t at = now_ns() + length_ns;
        while (now_ns() < at) {
        }
        const std::int64_t stored_at = now_ns();
        shmem_int64_p(&met.stored_at, stored_at, 0);
        seen.waker_ns.push_back(static_cast<double>(now_ns() - stored_at));
      }
    }
    seen.cpu_ns.push_back(static_cast<double>(process_cpu_ns() - cpu) / per_batch);
  }
  return seen;
}

// By how much timers of a millisecond are late.
std::vector<double> late_timers(int timers) {
  std::vector<double> late;
  wait::wake_without_slack();
  for (int i = 0; i < timers; ++i) {
    const std::int64_t until = now_ns() + 1'000'000;
    const timespec t = timespec_of(until);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
    }
    late.push_back(static_cast<double>(now_ns() - until));
  }
  return late;
}

}  // namespace

nlohmann::json wake_ups(double seconds_per_length) {
  auto* const met = static_cast<meeting*>(shmem_align(64, sizeof(meeting)));
  *met = {};
  // PE 1's observations, which PE 0 prints.
  constexpr std::size_t most = 400;
  auto* const of_waker = static_cast<double*>(shmem_calloc(most, sizeof(double)));
  shmem_barrier_all();
  nlohmann::json lengths = nlohmann::json::array();
  std::uint64_t number = 0;
  for (const std::int64_t length : lengths_ns) {
    const int waits = static_cast<int>(
        std::clamp(seconds_per_length * 1e9 / static_cast<double>(length), 2.0 * batches, static_cast<double>(most)));
    (void)wait_for(*met, length, 2 * batches, number);  // lets adaptive learn
    const observed seen = wait_for(*met, length, waits, number);
    if (shmem_my_pe() == 1) shmem_double_put(of_waker, seen.waker_ns.data(), seen.waker_ns.size(), 0);
    shmem_barrier_all();
    lengths.push_back({{"length_ns", length},
                       {"late_ns", seen.late_ns},
                       {"cpu_ns", seen.cpu_ns},
                       {"waker_ns", std::vector<double>(of_waker, of_waker + seen.late_ns.size())}});
    shmem_barrier_all();
  }
  nlohmann::json found = {{"lengths", lengths}};
  if (shmem_my_pe() == 0) found["timer_ns"] = late_timers(200);
  shmem_barrier_all();
  shmem_free(of_waker);
  shmem_free(met);
  return found;
}

}  // namespace lull::calibrate
