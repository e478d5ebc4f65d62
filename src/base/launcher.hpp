// What launchers pass to a process in variables: its rank and its job; and what lull-launch and its processes pass to
// each other in addition to PMIx. python/lull/job/launcher.py knows more of these variables, for lull measure.
#pragma once
#include <string_view>

#include "base/environment.hpp"

namespace lull {

// Variables that contain a process's rank; the first one that is set counts. Slurm's is last, because under mpirun it
// is the number of mpirun's daemon.
inline constexpr const char* rank_variables[] = {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};

// Variables that contain the name of a process's job; the first one that is set counts.
inline constexpr const char* job_variables[] = {"PMIX_NAMESPACE", "PMI_JOBID", "OMPI_MCA_ess_base_jobid"};

// The rank as the launcher writes it; null if no launcher started this process.
[[nodiscard]] inline const char* rank_of_launcher() noexcept {
  for (const char* const variable : rank_variables)
    if (const char* const rank = variable_of_environment(variable)) return rank;
  return nullptr;
}

// The rank of a task that srun has started. Ranks that a task starts have it, too.
[[nodiscard]] inline const char* task_of_slurm() noexcept { return variable_of_environment("SLURM_PROCID"); }

// The name of the job; empty if the launcher gives it none.
[[nodiscard]] inline std::string_view job_of_launcher() noexcept {
  for (const char* const variable : job_variables)
    if (const char* const job = text_of_environment(variable)) return job;
  return {};
}

// Whether this process reports what all processes of its job find: true for the first rank, and for processes without a
// launcher.
[[nodiscard]] inline bool is_reporter() noexcept {
  const char* const rank = rank_of_launcher();
  return rank == nullptr || std::string_view(rank) == "0";
}

// The name that PMIx gives the job, and the address of its server, one process for all processes of the job on a node;
// null if no PMIx server has started this process.
[[nodiscard]] inline const char* job_of_pmix() noexcept { return variable_of_environment("PMIX_NAMESPACE"); }
[[nodiscard]] inline const char* server_of_pmix() noexcept { return variable_of_environment("PMIX_SERVER_URI2"); }

[[nodiscard]] inline bool started_by_open_mpi() noexcept {
  return variable_of_environment("OMPI_COMM_WORLD_RANK") != nullptr;
}

// The prefix of the names of lull-launch's jobs.
inline constexpr std::string_view job_of_lull_launch = "lull-";

// The prefix of the PMIx_Abort message of a process that cannot reach another, and waits to be ended. That process has
// nearly always died; lull-launch knows, and reports which.
inline constexpr std::string_view peer_is_lost = "peer lost: ";

}  // namespace lull
