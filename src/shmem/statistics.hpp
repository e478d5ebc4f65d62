// What a job's waiting has cost, printed once at its end (LULL_STATS), and what its choices have come to.
//
// report() is collective: every PE tells its counts, PE 0 adds them up and prints one table to stderr; with LULL_RECORD
// it leaves them in the record of the run, too, where they meet the energy that `lull measure` has read; and the choices.
#pragma once
#include <cstdint>

#include "fabric/world.hpp"

namespace lull::shmem {

class job_statistics {
 public:
  explicit job_statistics(fabric::world& world);
  job_statistics(const job_statistics&) = delete;
  job_statistics& operator=(const job_statistics&) = delete;

  void report();  // before the world is finalized

 private:
  fabric::world& world_;
  std::int64_t begin_ns_;
  std::int64_t cpu_begin_ns_;
};

}  // namespace lull::shmem
