#include "stage/blocks/python_host.hpp"

#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/settings.hpp"

namespace lull::stage::blocks {
namespace {

constexpr const char* asked = "run the plug-in";
constexpr int socket_of_host = 3;

[[noreturn]] void has_ended() {
  throw error(asked, "its Python has ended", "LULL_STAGE_PYTHON must name one that has Lull");
}

// What is preloaded is for the program.
std::vector<char*> environment() {
  std::vector<char*> kept;
  for (char** one = environ; *one != nullptr; ++one)
    if (std::strncmp(*one, "LD_PRELOAD=", 11) != 0) kept.push_back(*one);
  kept.push_back(nullptr);
  return kept;
}

pid_t start(std::string python, int socket) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, socket, socket_of_host);
  posix_spawn_file_actions_addclosefrom_np(&files, socket_of_host + 1);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  // A module of the working directory never takes the place of one that is installed.
  std::string safe_path = "-P", option = "-c", package = setting_text("LULL_STAGE_PACKAGE");
  std::string start =
      "import runpy, sys; sys.path[:0] = filter(None, sys.argv[1:]); sys.path.append(''); "
      "runpy.run_module('lull.stage.plugin_host', None, '__main__', True)";
  char* const arguments[] = {python.data(), safe_path.data(), option.data(), start.data(), package.data(), nullptr};
  pid_t child = -1;
  const int failed = posix_spawnp(&child, python.c_str(), &files, &attributes, arguments, environment().data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0)
    throw error(asked, "cannot start " + python + ": " + describe_errno(failed), "set LULL_STAGE_PYTHON to a Python");
  return child;
}

}  // namespace

python_host::python_host(const std::string& function) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) throw error(asked, describe_errno(errno));
  socket_ = descriptor(sockets[0]);
  {
    const descriptor its(sockets[1]);  // ours must be the only other end: then its end is seen
    process_ = start(setting_text("LULL_STAGE_PYTHON"), its.get());
  }
  try {
    ask(nlohmann::json{{"function", function}}.dump());
  } catch (...) {
    socket_ = {};
    waitpid(process_, nullptr, 0);
    throw;
  }
}

python_host::~python_host() {
  socket_ = {};
  waitpid(process_, nullptr, 0);
}

void python_host::call(const lull_stage_iteration& with, const std::vector<block_in_file>& where) {
  nlohmann::json told{{"number", with.number},
                      {"processes", with.processes},
                      {"folder", with.folder},
                      {"name", with.name},
                      {"options", nlohmann::json::parse(with.options)},
                      {"blocks", nlohmann::json::array()}};
  for (std::size_t i = 0; i < with.blocks; ++i) {
    const lull_stage_block& one = with.block[i];
    const auto list = [&](const std::int64_t* values) {
      return std::vector<std::int64_t>(values, values + one.dimensions);
    };
    told["blocks"].push_back(
        {{"variable", one.variable},
         {"type", one.type},
         {"unit", one.unit},
         {"process", one.process},
         {"extents", list(one.extents)},
         {"offset", list(one.offset)},
         {"count", list(one.count)},
         {"file", "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(where[i].descriptor)},
         {"position", where[i].position}});
  }
  ask(told.dump());
}

void python_host::ask(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t now = send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) has_ended();
    sent += static_cast<std::size_t>(now);
  }
  std::string answer;
  while (!answer.ends_with('\n')) {
    char some[512];
    const ssize_t got = recv(socket_.get(), some, sizeof some, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) has_ended();
    answer.append(some, static_cast<std::size_t>(got));
  }
  answer.pop_back();
  if (!answer.empty()) throw error(asked, answer);  // a line: what was raised
}

}  // namespace lull::stage::blocks
