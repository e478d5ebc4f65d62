#include "stage/blocks/python_host.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"

namespace lull::stage::blocks {
namespace {

constexpr const char* action = "run the plug-in";
constexpr int socket_of_host = 3;

[[noreturn]] void has_ended() {
  throw error(action, "its Python process has ended",
              "set LULL_STAGE_PYTHON to a Python interpreter for which Lull is installed");
}

// The folder of the package comes first, the working directory last.
constexpr const char* run_host =
    "import runpy, sys; sys.path[:0] = filter(None, sys.argv[1:]); sys.path.append(''); "
    "runpy.run_module('lull.stage.plugin_host', None, '__main__', True)";

pid_t start(const std::string& python, const descriptor& socket) {
  const child_process host{.program = python,
                           // -P: a module in the working directory must never replace an installed one.
                           .arguments = {python, "-P", "-c", run_host, setting_text("LULL_STAGE_PACKAGE")},
                           .environment = environment_without_preloads(),
                           .descriptors = {{socket.get(), socket_of_host}},
                           .close_from = socket_of_host + 1,
                           .signals_as_new = true};
  pid_t child = -1;
  if (const int failed = host.start(child); failed != 0)
    throw error(action, "cannot start " + python + ": " + describe_errno(failed),
                "set LULL_STAGE_PYTHON to a Python interpreter");
  return child;
}

}  // namespace

python_host::python_host(const std::string& function) {
  descriptor_pair ends = open_socket_pair(SOCK_STREAM);
  if (!ends) throw error(action, describe_errno(errno));
  process_ = start(setting_text("LULL_STAGE_PYTHON"), ends.second);
  ends.second.close();  // the socket must have no other open end here, so that the child's end is noticed
  socket_ = std::move(ends.first);
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
  nlohmann::json request{{"number", with.number},
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
    request["blocks"].push_back(
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
  ask(request.dump());
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
  if (!answer.empty()) throw error(action, answer);  // a line: what was raised
}

}  // namespace lull::stage::blocks
