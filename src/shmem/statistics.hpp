// The cost of a job's waits, printed at its end (LULL_STATS), and the outcome of the runtime's choices.
//
// report() is collective. PE 0 sums the counts of all PEs and prints one table on stderr. With LULL_RECORD it also
// writes the counts and the choices into the record of the run, beside the energy that `lull measure` reads.
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
