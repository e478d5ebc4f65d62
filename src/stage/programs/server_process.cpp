#include "stage/programs/server_process.hpp"

#include <dlfcn.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "stage/programs/relay.hpp"

namespace lull::stage {
namespace {

constexpr int socket_of_server = 3;

[[noreturn]] void fail(const std::string& what, int code) {
  throw error("start a server for the program's output", what + ": " + describe_errno(code));
}

// The path of lull-stage-server, in the folder of this library.
std::string program() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&serve_in_own_process), &self) == 0) fail("find lull-stage-server", ENOENT);
  const std::string library = self.dli_fname;
  return library.substr(0, library.rfind('/') + 1) + "lull/libexec/lull-stage-server";
}

void start(const std::string& path, const descriptor& socket, const std::string& role) {
  child_process server{.program = path,
                       .arguments = {"lull-stage-server"},
                       .environment = environment_without_preloads(),
                       .descriptors = {{socket.get(), socket_of_server}},
                       .close_from = socket_of_server + 1,
                       .leads = child_process::leader::of_session,
                       .signals_as_new = true};
  if (!role.empty()) server.arguments.push_back(role);
  pid_t child = 0;
  if (const int failed = server.start(child); failed != 0) fail(path, failed);
}

}  // namespace

int serve_in_own_process(exchange& all, std::span<const std::string> nodes_by_rank) {
  auto [mine, its] = open_socket_pair(SOCK_STREAM);
  if (!mine) fail("connect to it", errno);
  start(program(), its, {});
  its = {};  // so that the end of the server is noticed
  const std::optional<int> code = relay(mine.get(), all, nodes_by_rank);
  return code.value_or(0);
}

descriptor start_keeper() noexcept try {
  auto [mine, its] = open_socket_pair(SOCK_SEQPACKET);
  if (!mine) fail("connect to the process that keeps files", errno);
  start(program(), its, "keep");
  return std::move(mine);
} catch (const std::exception& problem) {
  std::fprintf(stderr, "lull: %s; output that is flushed is written by the program itself\n", problem.what());
  return {};
}

}  // namespace lull::stage
