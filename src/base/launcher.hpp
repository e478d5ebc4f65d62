// What launchers tell a process: its rank, its job, by variables; and what lull-launch and the processes that it has started
// say to each other, besides PMIx. python/lull/job/launcher.py knows more of the variables, for lull measure.
#pragma once
#include <string_view>

#include "base/environment.hpp"

namespace lull {

// Variables that have a process's rank; the first that is set counts. Slurm's comes last: below mpirun it is the number of
// mpirun's own daemon.
inline constexpr const char* rank_variables[] = {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};

// Variables that have the name of a process's job, likewise.
inline constexpr const char* job_variables[] = {"PMIX_NAMESPACE", "PMI_JOBID", "OMPI_MCA_ess_base_jobid"};

// The rank as the launcher writes it; null where no launcher started this process.
[[nodiscard]] inline const char* rank_of_launcher() noexcept {
  for (const char* const variable : rank_variables)
    if (const char* const rank = variable_of_environment(variable)) return rank;
  return nullptr;
}

// The name of the job; empty where no launcher gives it one.
[[nodiscard]] inline std::string_view job_of_launcher() noexcept {
  for (const char* const variable : job_variables)
    if (const char* const job = text_of_environment(variable)) return job;
  return {};
}

// Whether this process reports what all processes of its job find alike: the first rank does, and any process that no
// launcher started.
[[nodiscard]] inline bool is_reporter() noexcept {
  const char* const rank = rank_of_launcher();
  return rank == nullptr || std::string_view(rank) == "0";
}

// The name that PMIx gives the job, and the address of its server, one process for the job's processes on a node; null where
// no server of PMIx has started this process.
[[nodiscard]] inline const char* job_of_pmix() noexcept { return variable_of_environment("PMIX_NAMESPACE"); }
[[nodiscard]] inline const char* server_of_pmix() noexcept { return variable_of_environment("PMIX_SERVER_URI2"); }

[[nodiscard]] inline bool started_by_open_mpi() noexcept {
  return variable_of_environment("OMPI_COMM_WORLD_RANK") != nullptr;
}

// How the names of lull-launch's jobs begin.
inline constexpr std::string_view job_of_lull_launch = "lull-";

// How the message of PMIx_Abort begins with which a process says that it cannot reach another, and waits to be ended. Nearly
// always that one has died: lull-launch knows, and says which.
inline constexpr std::string_view peer_is_lost = "peer lost: ";

}  // namespace lull
