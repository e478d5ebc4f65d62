#include "meter/parts/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace lull::meter {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t most_output = std::size_t{1} << 20;
constexpr std::chrono::milliseconds look_interval{20};  // between two looks at the stop token

struct pipe_ends {
  descriptor read, write;
};

pipe_ends make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw error("run a command of the meter", describe_errno(errno), "raise the limit of open files (ulimit -n)");
  return {descriptor(ends[0]), descriptor(ends[1])};
}

// Starts `/bin/sh -c line` as the leader of a new process group; an errno when it cannot.
int start(const std::string& line, const std::vector<std::string>& environment, const pipe_ends& output,
          const pipe_ends& complaints, pid_t& child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, complaints.write.get(), STDERR_FILENO);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::string shell = "sh", option = "-c", text = line;
  const std::array<char*, 4> arguments{shell.data(), option.data(), text.data(), nullptr};
  std::vector<std::string> variables = environment;
  std::vector<char*> pointers;
  pointers.reserve(variables.size() + 1);
  for (std::string& variable : variables) pointers.push_back(variable.data());
  pointers.push_back(nullptr);
  const int status = posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments.data(), pointers.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return status;
}

// Appends what has come; false at the end of the stream.
bool drain(descriptor& from, std::string& into) {
  std::array<char, 4096> buffer;
  const ssize_t length = ::read(from.get(), buffer.data(), buffer.size());
  if (length < 0) return errno == EINTR;
  if (length == 0) return false;
  into.append(buffer.data(),
              std::min(static_cast<std::size_t>(length), most_output - std::min(into.size(), most_output)));
  return true;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string failure_of(int status, const std::string& complaint) {
  const std::string said = first_line(complaint).empty() ? "" : ": " + first_line(complaint);
  if (WIFSIGNALED(status)) return fmt::format("ended by signal {}{}", WTERMSIG(status), said);
  if (WEXITSTATUS(status) != 0) return fmt::format("exit status {}{}", WEXITSTATUS(status), said);
  return "";
}

}  // namespace

command::command(std::string line) : line_(std::move(line)) {
  for (char** variable = environ; *variable != nullptr; ++variable) environment_.emplace_back(*variable);
}

command_result command::run(std::chrono::milliseconds longest, const std::stop_token& stop) const {
  const auto deadline = clock::now() + longest;
  pipe_ends output = make_pipe(), complaints = make_pipe();
  pid_t child = -1;
  if (const int status = start(line_, environment_, output, complaints, child)) return {"", describe_errno(status)};
  output.write = {};
  complaints.write = {};

  command_result result;
  std::string complaint;
  const auto over = [&] { return stop.stop_requested() || clock::now() >= deadline; };
  std::array<pollfd, 2> watched{{{output.read.get(), POLLIN, 0}, {complaints.read.get(), POLLIN, 0}}};
  while (!over() && (watched[0].fd >= 0 || watched[1].fd >= 0)) {
    if (::poll(watched.data(), watched.size(), static_cast<int>(look_interval.count())) <= 0) continue;
    if (watched[0].revents != 0 && !drain(output.read, result.output)) watched[0].fd = -1;
    if (watched[1].revents != 0 && !drain(complaints.read, complaint)) watched[1].fd = -1;
  }
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 && !over()) std::this_thread::sleep_for(look_interval / 20);
  if (ended == 0) {
    ::kill(-child, SIGKILL);
    waitpid(child, &status, 0);
    result.failure = stop.stop_requested()
                         ? "stopped"
                         : fmt::format("no answer within {} s", static_cast<double>(longest.count()) / 1e3);
    return result;
  }
  // Not ours to reap any more (somebody ignores SIGCHLD): its status is lost, its output is not.
  if (ended == child) result.failure = failure_of(status, complaint);
  return result;
}

}  // namespace lull::meter
