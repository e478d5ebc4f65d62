// What a job's waiting has cost, printed once at its end (LULL_STATS).
//
// One PE of each host reads the energy meters from shmem_init to shmem_finalize. report() is collective: every PE tells
// its counts, PE 0 adds them up and prints one table to stderr. The energy of an operation is its share of the energy
// of the processors, by CPU time: never better than derived, and estimated where the energy itself is.
#pragma once
#include <cstdint>
#include <memory>

#include "fabric/world.hpp"

namespace lull::meter {
class sampler;
}

namespace lull::shmem {

class job_statistics {
 public:
  // Begins to measure, if LULL_STATS says so.
  explicit job_statistics(fabric::world& world);
  ~job_statistics();
  job_statistics(const job_statistics&) = delete;
  job_statistics& operator=(const job_statistics&) = delete;

  void report();  // before the world is finalized

 private:
  fabric::world& world_;
  std::int64_t begin_ns_;
  std::int64_t cpu_begin_ns_;
  std::unique_ptr<meter::sampler> meter_;  // of a host's first PE
};

}  // namespace lull::shmem
