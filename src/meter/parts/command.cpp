#include "meter/parts/command.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "base/child_process.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace lull::meter {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t most_output = std::size_t{1} << 20;
constexpr std::chrono::milliseconds look_interval{20};  // between two checks of the stop token

descriptor_pair make_pipe() {
  descriptor_pair made = open_pipe();
  if (!made)
    throw error("run a command of the meter", describe_errno(errno), "raise the limit of open files (ulimit -n)");
  return made;
}

// Appends the available output; false at the end of the stream.
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

command::command(std::string line) : line_(std::move(line)), environment_(own_environment()) {}

command_result command::run(std::chrono::milliseconds longest, const std::stop_token& stop) const {
  const auto deadline = clock::now() + longest;
  descriptor_pair output = make_pipe(), complaints = make_pipe();
  const child_process shell{.program = "/bin/sh",
                            .arguments = {"sh", "-c", line_},
                            .environment = environment_,
                            .descriptors = {{child_process::nothing, STDIN_FILENO},
                                            {output.second.get(), STDOUT_FILENO},
                                            {complaints.second.get(), STDERR_FILENO}},
                            .leads = child_process::leader::of_group};
  pid_t child = -1;
  if (const int failed = shell.start(child); failed != 0) return {"", describe_errno(failed)};
  output.second.close();
  complaints.second.close();

  command_result result;
  std::string complaint;
  const auto over = [&] { return stop.stop_requested() || clock::now() >= deadline; };
  std::array<pollfd, 2> watched{{{output.first.get(), POLLIN, 0}, {complaints.first.get(), POLLIN, 0}}};
  while (!over() && (watched[0].fd >= 0 || watched[1].fd >= 0)) {
    if (::poll(watched.data(), watched.size(), static_cast<int>(look_interval.count())) <= 0) continue;
    if (watched[0].revents != 0 && !drain(output.first, result.output)) watched[0].fd = -1;
    if (watched[1].revents != 0 && !drain(complaints.first, complaint)) watched[1].fd = -1;
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
  // If SIGCHLD is ignored, the child cannot be reaped: its status is lost, but not its output.
  if (ended == child) result.failure = failure_of(status, complaint);
  return result;
}

}  // namespace lull::meter
