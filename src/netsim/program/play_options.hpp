// The keys of a job that determine how programs run, as the player reads them.
#pragma once
#include <cstdint>
#include <vector>

#include "netsim/program/collective.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {

struct play_options {
  explicit play_options(const job_setup& setup);

  std::int64_t repeats;
  bool together;  // run until all programs have ended a run
  double compute_scale;
  double imbalance;           // of the processes' speeds, as a share
  double noise;               // mean of what is added to each computation, as a share
  std::uint64_t seed;         // of both
  std::uint64_t eager;        // the longest message that is sent without a request, bytes
  picoseconds overhead;       // CPU time of each send and receive
  std::uint64_t envelope;     // bytes that each message of the network carries in addition to the program's
  picoseconds memory_delay;   // between processes on a node
  double memory_picoseconds;  // per byte
  std::vector<const collective_algorithm*> algorithms;  // by family; null: by its rules

  [[nodiscard]] picoseconds memory_time(std::uint64_t bytes) const;
};

}  // namespace lull::netsim
