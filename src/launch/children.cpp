#include "launch/children.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace lull::launch {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));  // exec only reads them
  result.push_back(nullptr);
  return result;
}

// Parent of a process, from /proc/PID/stat: "pid (any name) state ppid ..."; 0 when it has gone.
pid_t parent_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return 0;
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos || line.size() < name_end + 4) return 0;
  if (line[name_end + 2] == 'Z') return 0;  // only a zombie: nothing left to end
  return static_cast<pid_t>(std::strtol(line.c_str() + name_end + 4, nullptr, 10));
}

void reap() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

}  // namespace

signal_reader::signal_reader(std::span<const int> signals) : before_{} {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : signals) sigaddset(&wanted, signal);
  sigprocmask(SIG_BLOCK, &wanted, &before_);
  fd_ = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ < 0) throw error("listen for signals", describe_errno(errno));
}

signal_reader::~signal_reader() { close(fd_); }

int signal_reader::next() const {
  signalfd_siginfo info;
  return read(fd_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

void signal_reader::unblock_for_program() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

pid_t start(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
            const std::function<void()>& prepare, exec_failure& failure) {
  const auto arguments = pointers(argv);
  const auto variables = pointers(environment);
  int status_pipe[2];  // closed by a successful exec; else it carries errno
  if (pipe2(status_pipe, O_CLOEXEC) != 0) throw error("start " + argv[0], describe_errno(errno));
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    const int code = errno;
    close(status_pipe[0]);
    close(status_pipe[1]);
    throw error("start " + argv[0], describe_errno(code));
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    prepare();
    execvpe(arguments[0], arguments.data(), variables.data());
    const int code = errno;
    (void)!write(status_pipe[1], &code, sizeof code);
    _exit(code == ENOENT ? 127 : 126);
  }
  close(status_pipe[1]);
  int code = 0;
  ssize_t got = 0;
  do got = read(status_pipe[0], &code, sizeof code);
  while (got < 0 && errno == EINTR);
  close(status_pipe[0]);
  failure.code = got == sizeof code ? code : 0;
  return child;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> result;
  for (char** entry = environ; *entry; ++entry) result.emplace_back(*entry);
  return result;
}

void set_variable(std::vector<std::string>& environment, const std::string& assignment) {
  const std::string beginning = assignment.substr(0, assignment.find('=') + 1);
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(beginning); });
  environment.push_back(assignment);
}

void set_default(std::vector<std::string>& environment, const std::string& assignment) {
  const std::string beginning = assignment.substr(0, assignment.find('=') + 1);
  if (std::ranges::none_of(environment, [&](const std::string& entry) { return entry.starts_with(beginning); }))
    environment.push_back(assignment);
}

int shell_code(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::string describe_end(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return "exited with code " + std::to_string(WEXITSTATUS(wait_status));
  const char* const name = sigabbrev_np(WTERMSIG(wait_status));
  return "was ended by " + (name ? "SIG" + std::string(name) : "signal " + std::to_string(WTERMSIG(wait_status)));
}

std::vector<pid_t> descendants() {
  std::multimap<pid_t, pid_t> children;
  if (DIR* const proc = opendir("/proc")) {
    while (const dirent* const entry = readdir(proc)) {  // NOLINT(concurrency-mt-unsafe): own DIR
      const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
      if (pid > 0) children.emplace(parent_of(pid), pid);
    }
    closedir(proc);
  }
  std::vector<pid_t> found{getpid()};
  for (std::size_t next = 0; next < found.size(); ++next) {
    const auto [first, last] = children.equal_range(found[next]);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

void end_descendants(int grace_ms) {
  for (const pid_t pid : descendants()) kill(pid, SIGTERM);
  const std::int64_t patience = now_ns() + std::int64_t{grace_ms} * 1'000'000;
  for (;;) {
    reap();
    const auto left = descendants();
    if (left.empty()) break;
    if (now_ns() > patience)
      for (const pid_t pid : left) kill(pid, SIGKILL);
    usleep(5000);
  }
}

}  // namespace lull::launch
