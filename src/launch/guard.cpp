// lull-guard: runs one command for a parent that can die at any moment without leaving anything behind.
//
//   lull-guard --watch-fd R --report-fd W -- COMMAND ARGUMENTS...
//
// It adopts every orphan of the command (subreaper). R is the reading end of a pipe whose other end only the parent
// holds: at end of file, the parent is gone, and the guard ends every descendant and exits. When the command ends, the
// guard writes one line of JSON to W: how it ended, when it began and ended (CLOCK_MONOTONIC), the CPU time and memory
// of all processes that it waited for, and the names of processes left behind. Stdin, stdout, stderr and the terminal's
// signals are the command's; its exit code is the guard's.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "launch/children.hpp"

namespace {

using lull::launch::exec_failure;

constexpr int lingering_ms = 100;  // time for a process that is exiting; after it, it counts as left behind
constexpr std::size_t most_names = 8;
constexpr std::array forwarded{SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

void report(int fd, const nlohmann::json& content) {
  const std::string line = content.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
  (void)!write(fd, line.data(), line.size());  // the parent may be gone
}

double in_seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; }

nlohmann::json summary(int status, std::int64_t begin_ns, std::int64_t end_ns) {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  nlohmann::json content{{"exit_code", lull::launch::shell_code(status)},
                         {"signal", nullptr},
                         {"begin_ns", begin_ns},
                         {"end_ns", end_ns},
                         {"user_s", in_seconds(used.ru_utime)},
                         {"system_s", in_seconds(used.ru_stime)},
                         {"max_rss_bytes", used.ru_maxrss * 1024}};
  if (WIFSIGNALED(status)) content["signal"] = WTERMSIG(status);
  return content;
}

std::string name_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

// The names of the command's processes that still run after it, at most `most_names` of them.
nlohmann::json left_behind() {
  std::vector<pid_t> left;
  for (int waited = 0;; waited += 5) {
    left = lull::launch::descendants();
    std::erase_if(left, lull::launch::is_ending);
    if (left.empty() || waited >= lingering_ms) break;
    usleep(5000);
  }
  nlohmann::json names = nlohmann::json::array();
  for (std::size_t i = 0; i < left.size() && i < most_names; ++i) names.push_back(name_of(left[i]));
  return {{"processes", left.size()}, {"names", names}};
}

int guard(const std::vector<std::string>& command, int watch_fd, int report_fd) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::vector<int> signals(forwarded.begin(), forwarded.end());
  signals.push_back(SIGCHLD);
  const lull::launch::signal_reader pending(signals);
  const auto terminal_int = signal(SIGINT, SIG_IGN);  // the terminal also sends these to the command
  const auto terminal_quit = signal(SIGQUIT, SIG_IGN);

  exec_failure failure;
  const std::int64_t begin_ns = lull::now_ns();
  const pid_t child = lull::launch::start(
      command, lull::own_environment(),
      [&] {
        signal(SIGINT, terminal_int);
        signal(SIGQUIT, terminal_quit);
        pending.unblock_for_program();
      },
      failure);
  if (failure.code != 0) {
    const std::string line = "run " + command[0] + ": " + lull::describe_errno(failure.code);
    std::fprintf(stderr, "lull: %s\n", line.c_str());
    report(report_fd, {{"error", line}});
    return failure.code == ENOENT ? 127 : 126;
  }
  bool asked_to_end = false;
  for (;;) {
    std::array<pollfd, 2> wanted{pollfd{pending.fd(), POLLIN, 0}, pollfd{watch_fd, POLLIN, 0}};
    if (poll(wanted.data(), wanted.size(), -1) < 0) continue;
    if (wanted[1].revents != 0) {
      char byte = 0;
      if (read(watch_fd, &byte, 1) == 0) {
        lull::launch::end_descendants();
        return 137;
      }
    }
    for (int arrived = pending.next(); arrived != 0; arrived = pending.next()) {
      if (arrived != SIGCHLD) {
        asked_to_end |= arrived == SIGTERM || arrived == SIGHUP;
        kill(child, arrived);
        continue;
      }
      int status = 0;
      for (pid_t ended = waitpid(-1, &status, WNOHANG); ended > 0; ended = waitpid(-1, &status, WNOHANG)) {
        if (ended != child) continue;  // an adopted orphan
        const std::int64_t end_ns = lull::now_ns();
        nlohmann::json content = summary(status, begin_ns, end_ns);
        if (asked_to_end)
          lull::launch::end_descendants();  // ends what the command has left behind
        else
          content["left_behind"] = left_behind();
        report(report_fd, content);
        return lull::launch::shell_code(status);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    CLI::App app{"Runs a command so that none of its processes outlives the parent."};
    int watch_fd = -1, report_fd = -1;
    std::vector<std::string> command;
    app.add_option("--watch-fd", watch_fd, "Descriptor whose end of file means that the parent has ended")->required();
    app.add_option("--report-fd", report_fd, "Descriptor that receives the report")->required();
    app.add_option("command", command, "The command and its arguments")->required();
    app.positionals_at_end();
    CLI11_PARSE(app, argc, argv);
    for (const int fd : {watch_fd, report_fd}) fcntl(fd, F_SETFD, FD_CLOEXEC);
    return guard(command, watch_fd, report_fd);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "lull: %s\n", failure.what());
    return 126;
  }
}
