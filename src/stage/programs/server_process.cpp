#include "stage/programs/server_process.hpp"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "stage/programs/relay.hpp"

namespace lull::stage {
namespace {

constexpr int socket_of_server = 3;

[[noreturn]] void fail(const std::string& what, int code) {
  throw error("start a server for the program's output", what + ": " + describe_errno(code));
}

// In the folder of this library.
std::string program() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&serve_in_own_process), &self) == 0) fail("find lull-stage-server", ENOENT);
  const std::string library = self.dli_fname;
  return library.substr(0, library.rfind('/') + 1) + "lull/libexec/lull-stage-server";
}

// What is preloaded is for the program.
std::vector<char*> environment() {
  std::vector<char*> kept;
  for (char** one = environ; *one != nullptr; ++one)
    if (std::strncmp(*one, "LD_PRELOAD=", 11) != 0) kept.push_back(*one);
  kept.push_back(nullptr);
  return kept;
}

void start(const std::string& path, int socket, std::string role) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, socket, socket_of_server);
  posix_spawn_file_actions_addclosefrom_np(&files, socket_of_server + 1);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  std::string name = "lull-stage-server";
  char* const arguments[] = {name.data(), role.empty() ? nullptr : role.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawn(&child, path.c_str(), &files, &attributes, arguments, environment().data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) fail(path, failed);
}

}  // namespace

int serve_in_own_process(exchange& all, std::span<const std::string> nodes_by_rank) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) fail("connect to it", errno);
  try {
    start(program(), sockets[1], {});
  } catch (...) {
    close(sockets[0]);
    close(sockets[1]);
    throw;
  }
  close(sockets[1]);
  const std::optional<int> code = relay(sockets[0], all, nodes_by_rank);
  close(sockets[0]);
  return code.value_or(0);
}

descriptor start_keeper() noexcept try {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) fail("connect to a keeper", errno);
  descriptor mine(sockets[0]);
  const descriptor its(sockets[1]);
  start(program(), its.get(), "keep");
  return mine;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "lull: %s; output that is flushed is written by the program itself\n", problem.what());
  return {};
}

}  // namespace lull::stage
