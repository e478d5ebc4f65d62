// The cost of waiting for the ranks of a node: on stderr, and in the record of the run.
//
// Ranks pass their numbers through the memory of their bells, not by messages: the last rank of a node that ends
// reports for all. If a rank never ends, or has not joined, there is no report.
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

// Reports one rank. The last one writes the node's report; `by_rank`: with a line for each rank.
void report_waiting(node_bells& node, std::string_view policy, int rank, const rank_times& times,
                    const call_sites& sites, bool by_rank) noexcept;

}  // namespace lull::mpi
