// The keys of a job that say how programs run, as the player reads them.
#pragma once
#include <cstdint>
#include <vector>

#include "netsim/program/collective.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {

struct play_options {
  explicit play_options(const job_setup& setup);

  std::int64_t repeats;
  double compute_scale;
  std::uint64_t eager;        // the longest message that leaves without asking, bytes
  picoseconds overhead;       // of the CPU, for each send and receive
  std::uint64_t envelope;     // bytes beside those of the program in each message of the network
  picoseconds memory_delay;   // between processes of a node
  double memory_picoseconds;  // for each byte
  std::vector<const collective_algorithm*> algorithms;  // by family; null: by its rules

  [[nodiscard]] picoseconds scaled(picoseconds computing) const;
  [[nodiscard]] picoseconds memory_time(std::uint64_t bytes) const;
};

}  // namespace lull::netsim
