// What launchers pass to a process in variables: its rank and its job; and what lull-launch and its processes pass to
// each other in addition to PMIx. python/lull/job/launchers/ knows more of these variables, for lull measure.
#pragma once
#include <string_view>

#include "base/environment.hpp"

namespace lull {

// Variables that contain a process's rank; the first one that is set counts. Those of batch systems are last, because
// under mpirun they are of mpirun's daemon: Slurm's even below Flux, which may be a job of Slurm, and below PALS, whose
// variables Slurm sets, too.
inline constexpr const char* rank_variables[] = {"PMIX_RANK",           "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                                 "MV2_COMM_WORLD_RANK", "JSM_NAMESPACE_RANK",   "FLUX_TASK_RANK",
                                                 "PALS_RANKID",         "SLURM_PROCID"};

// Variables that contain the name of a process's job; the first one that is set counts.
inline constexpr const char* job_variables[] = {"PMIX_NAMESPACE",   "PMI_JOBID",        "OMPI_MCA_ess_base_jobid",
                                                "I_MPI_HYDRA_UUID", "FLUX_JOB_ID_PATH", "FLUX_JOB_ID",
                                                "PALS_APID"};

// Variables that contain the number of a job's ranks on this node.
inline constexpr const char* sizes_on_node[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                                "MV2_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE",
                                                "JSM_NAMESPACE_LOCAL_SIZE"};

// Whether mpiexec of MPICH or Intel MPI, Hydra, has started this process. In a shell of `srun --pty --mpi=pmix` its ranks
// inherit PMIx's variables, of the shell.
[[nodiscard]] inline bool started_by_hydra() noexcept {
  return variable_of_environment("MPI_LOCALNRANKS") != nullptr && variable_of_environment("PMI_RANK") != nullptr;
}

// The rank as the launcher writes it; null if no launcher started this process.
[[nodiscard]] inline const char* rank_of_launcher() noexcept {
  if (started_by_hydra()) return variable_of_environment("PMI_RANK");
  for (const char* const variable : rank_variables)
    if (const char* const rank = variable_of_environment(variable)) return rank;
  return nullptr;
}

// The rank of a task that srun has started. Ranks that a task starts have it, too.
[[nodiscard]] inline const char* task_of_slurm() noexcept { return variable_of_environment("SLURM_PROCID"); }

// The name of the job; empty if the launcher gives it none.
[[nodiscard]] inline std::string_view job_of_launcher() noexcept {
  if (started_by_hydra()) {
    const char* const job = text_of_environment("I_MPI_HYDRA_UUID");
    return job != nullptr ? job : "";
  }
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

// The rank of a task that Flux has started. Ranks that a task starts have it, too.
[[nodiscard]] inline const char* task_of_flux() noexcept { return variable_of_environment("FLUX_TASK_RANK"); }

// Whether all ranks of Flux's job are on this node.
[[nodiscard]] inline bool is_on_one_node_of_flux() noexcept {
  const char* const nodes = variable_of_environment("FLUX_JOB_NNODES");
  return nodes != nullptr && std::string_view(nodes) == "1";
}

// The name that PALS gives the job, and the number of this node in it; null if it has not started this process.
[[nodiscard]] inline const char* job_of_pals() noexcept { return text_of_environment("PALS_APID"); }
[[nodiscard]] inline const char* node_of_pals() noexcept { return text_of_environment("PALS_NODEID"); }

[[nodiscard]] inline bool started_by_open_mpi() noexcept {
  return variable_of_environment("OMPI_COMM_WORLD_RANK") != nullptr;
}

// The prefix of the names of lull-launch's jobs.
inline constexpr std::string_view job_of_lull_launch = "lull-";

// The prefix of the PMIx_Abort message of a process that cannot reach another, and waits to be ended. That process has
// nearly always died; lull-launch knows, and reports which.
inline constexpr std::string_view peer_is_lost = "peer lost: ";

}  // namespace lull
