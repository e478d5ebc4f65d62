// A job on one host listens only on the loopback: no other host can connect to it. (With UCX_NET_DEVICES set, as on
// several hosts, it listens on those devices.)
#include <dirent.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "check.hpp"

namespace {

// The open sockets of this process, by inode.
std::set<std::string> own_sockets() {
  std::set<std::string> found;
  DIR* const folder = opendir("/proc/self/fd");
  CHECK(folder != nullptr);
  while (const dirent* const entry = readdir(folder)) {
    std::array<char, 64> link{};
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    if (readlink(path.c_str(), link.data(), link.size() - 1) > 0 && std::strncmp(link.data(), "socket:[", 8) == 0)
      found.insert(std::string(link.data() + 8, std::strcspn(link.data() + 8, "]")));
  }
  closedir(folder);
  return found;
}

// How many of them listen; all must be on 127.0.0.1 or ::1.
int listening(const std::string& table, const std::string& loopback, const std::set<std::string>& own) {
  std::ifstream lines(table);
  std::string line;
  std::getline(lines, line);  // the head
  int count = 0;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::array<std::string, 10> word;
    for (auto& one : word) words >> one;
    constexpr const char* listens = "0A";
    if (word[3] != listens || !own.contains(word[9])) continue;
    ++count;
    CHECK(std::getenv("UCX_NET_DEVICES") || word[1].starts_with(loopback));
  }
  return count;
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  shmem_long_p(symmetric<long>(1), 1, r.next);
  shmem_barrier_all();
  const auto own = own_sockets();
  const int found = listening("/proc/self/net/tcp", "0100007F:", own) +
                    listening("/proc/self/net/tcp6", "00000000000000000000000001000000:", own);
  CHECK(shmemx_n_nodes() == 1 || found > 0);
  shmem_barrier_all();
  finish();
}
