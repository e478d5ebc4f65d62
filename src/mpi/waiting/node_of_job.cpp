#include "mpi/waiting/node_of_job.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <functional>
#include <sstream>
#include <string_view>

#include "base/environment.hpp"
#include "base/launcher.hpp"

namespace lull::mpi {
namespace {

constexpr int none = -1;

// `none` if it is not a number.
int number(std::string_view digits) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
  return error == std::errc{} && end == digits.end() ? value : none;
}
int number_of(const char* text) { return text != nullptr ? number(text) : none; }
int number_in(const char* variable) { return number_of(variable_of_environment(variable)); }

// Whether srun has started this rank. mpirun starts a server for each node with srun, and ranks inherit its variables.
bool is_task_of_slurm(int rank, int ranks) {
  return number_of(task_of_slurm()) == rank && number_in("SLURM_STEP_NUM_TASKS") == ranks &&
         variable_of_environment("SLURM_STEP_ID") != nullptr;
}

// Slurm writes the numbers of tasks of the nodes of a step as `2(x3),1`. Returns that of the node with this number.
int tasks_of_node(std::string_view counts, int node) {
  while (!counts.empty() && node >= 0) {
    const std::string_view one = counts.substr(0, counts.find(','));
    counts.remove_prefix(std::min(one.size() + 1, counts.size()));
    const std::size_t times = one.find("(x");
    const int nodes = times == one.npos ? 1 : number(one.substr(times + 2, one.size() - times - 3));
    if (node < nodes) return std::max(number(one.substr(0, times)), 0);
    node -= std::max(nodes, 1);
  }
  return 0;
}

// Whether Flux has started this rank. mpirun inherits its variables, as it does Slurm's.
bool is_task_of_flux(int rank, int ranks) {
  return number_of(task_of_flux()) == rank && number_in("FLUX_JOB_SIZE") == ranks;
}

// One process serves all processes of a job on a node. PMIx gives its address; Hydra, of MPICH and Intel MPI, a socket
// that is connected with it. Other tasks of Slurm and of PALS are identified by job, step and node.
std::string server_on_this_node(bool by_slurm) {
  if (const char* const address = server_of_pmix(); address != nullptr && !started_by_hydra()) return address;
  pid_t server = getppid();
  if (const int socket = number_in("PMI_FD"); socket != none) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0) server = peer.pid;
  } else if (by_slurm) {
    std::string step;
    for (const char* const variable : {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_NODEID"})
      step += fmt::format("{}.", number_in(variable));
    return step;
  } else if (const char* const job = job_of_pals(); job != nullptr && node_of_pals() != nullptr) {
    return fmt::format("{}.{}", job, node_of_pals());
  }
  // With its start, which tells it from an earlier process with this number.
  std::ifstream file(fmt::format("/proc/{}/stat", server));
  std::string line;
  std::getline(file, line);
  std::string_view rest = line;
  rest.remove_prefix(std::min(rest.rfind(')') + 1, rest.size()));
  for (int field = 0; field < 20 && !rest.empty(); ++field)
    rest.remove_prefix(std::min(rest.find(' ') + 1, rest.size()));
  return fmt::format("{}@{}", server, rest.substr(0, rest.find(' ')));
}

// MPICH's Hydra starts the jobs that a program spawns by the process that serves the program, and does not tell a process
// which job it is of. MPI_Init has mapped memory that all ranks of a job on a node share; its lowest inode names the job.
std::string memory_of_mpich() {
  if (variable_of_environment("PMI_SPAWNED") == nullptr) return {};
  std::uint64_t lowest = 0;
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string range, access, offset, device, path;
    std::uint64_t inode = 0;
    words >> range >> access >> offset >> device >> inode >> path;
    if (path.starts_with("/dev/shm/mpich_") && (lowest == 0 || inode < lowest)) lowest = inode;
  }
  return fmt::format("#{}", lowest);
}

}  // namespace

node_of_job find_node_of_job(int rank, int ranks) {
  node_of_job found;
  const bool by_slurm = is_task_of_slurm(rank, ranks);
  for (const char* const variable : sizes_on_node)
    if (found.ranks == 0) found.ranks = std::max(number_in(variable), 0);
  if (const char* const counts = variable_of_environment("SLURM_STEP_TASKS_PER_NODE");
      found.ranks == 0 && by_slurm && counts != nullptr)
    found.ranks = tasks_of_node(counts, number_in("SLURM_NODEID"));
  if (found.ranks == 0 && is_on_one_node_of_flux() && is_task_of_flux(rank, ranks)) found.ranks = ranks;
  if (rank_of_launcher() == nullptr) found.ranks = 1;  // started without a launcher
  if (ranks == 1) found.ranks = 1;
  const char* const job = started_by_hydra() ? nullptr : job_of_pmix();
  const std::string id = ranks == 1 ? std::to_string(getpid())
                                    : fmt::format("{}@{}{}", job != nullptr ? job : "", server_on_this_node(by_slurm),
                                                  job != nullptr ? "" : memory_of_mpich());
  found.name = fmt::format("/lull-mpi-{}-{:016x}", getuid(), std::hash<std::string>{}(id));
  return found;
}

}  // namespace lull::mpi
