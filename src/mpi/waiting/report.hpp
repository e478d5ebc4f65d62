// What waiting has cost the ranks of a node: on stderr, and in the record of the run.
//
// Ranks tell each other through the memory of their bells, not by messages: the last of a node that ends writes for all.
// A rank that never ends, or that was never there, is one for which nobody writes.
#pragma once
#include <cstdint>

#include "mpi/waiting/bells.hpp"
#include "mpi/waiting/call_sites.hpp"

namespace lull::mpi {

struct rank_times {
  std::int64_t ns_wall = 0, ns_cpu = 0;  // since MPI_Init, all threads
  std::int64_t ns_changing_frequency = 0;
  std::uint64_t frequency_changes = 0;
};

// Of one rank. Writes the node's when it is the last; `by_rank`: with a line for each rank.
void report_waiting(node_bells& node, std::string_view policy, int rank, const rank_times& times,
                    const call_sites& sites, bool by_rank) noexcept;

}  // namespace lull::mpi
