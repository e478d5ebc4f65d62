#include "mpi/waiting/node_of_job.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

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

constexpr const char* sizes_on_node[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE",
                                         "PALS_LOCAL_SIZE"};

int number(const char* text) {
  const std::string_view digits = text != nullptr ? text : "";
  int value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
  return error == std::errc{} && end == digits.end() ? value : 0;
}

// One process serves all processes of a job on a node. PMIx gives its address; Hydra, of MPICH and Intel MPI, a socket
// on whose other side it is.
std::string server_on_this_node() {
  if (const char* const address = server_of_pmix()) return address;
  pid_t server = getppid();
  if (const char* const socket = variable_of_environment("PMI_FD")) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(number(socket), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0) server = peer.pid;
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

node_of_job find_node_of_job(int ranks_of_world) {
  node_of_job found;
  for (const char* const variable : sizes_on_node)
    if (found.ranks == 0) found.ranks = number(variable_of_environment(variable));
  if (rank_of_launcher() == nullptr) found.ranks = 1;  // started without a launcher
  if (ranks_of_world == 1) found.ranks = 1;
  const char* const job = job_of_pmix();
  const std::string id = ranks_of_world == 1 ? std::to_string(getpid())
                                             : fmt::format("{}@{}{}", job != nullptr ? job : "", server_on_this_node(),
                                                           job != nullptr ? "" : memory_of_mpich());
  found.name = fmt::format("/lull-mpi-{}-{:016x}", getuid(), std::hash<std::string>{}(id));
  return found;
}

}  // namespace lull::mpi
