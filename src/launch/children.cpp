#include "launch/children.hpp"

#include <dirent.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "base/child_process.hpp"
#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace lull::launch {
namespace {

// From /proc/PID/stat, "pid (any name) state ppid ...": the parent, 0 if it does not exist; the state; and the kernel's
// flags.
struct process_state {
  pid_t parent = 0;
  char state = 'X';
  unsigned flags = 0;
};
process_state state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return {};
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos || line.size() < name_end + 4) return {};
  const char state = line[name_end + 2];
  if (state == 'Z') return {};  // a zombie: nothing left to end
  process_state found{.state = state};
  int group = 0, session = 0, terminal = 0, foreground = 0;
  std::istringstream(line.substr(name_end + 3)) >> found.parent >> group >> session >> terminal >> foreground >>
      found.flags;
  return found;
}

// Signals exactly that process, even if its number has been reused: the parent is checked after the pidfd pins the
// process.
void signal_child_of(pid_t parent, pid_t pid, int number) {
  const descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process) {
    if (errno != ESRCH) kill(pid, number);  // before Linux 5.3, or no descriptor is available
    return;
  }
  // An orphan has become a child of this process.
  const pid_t now = state_of(pid).parent;
  if (now == parent || now == getpid()) (void)syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0);
}

// Pairs of parent and process, parents first.
std::vector<std::pair<pid_t, pid_t>> descendants_with_parents() {
  std::multimap<pid_t, pid_t> children;
  if (DIR* const proc = opendir("/proc")) {
    while (const dirent* const entry = readdir(proc)) {  // NOLINT(concurrency-mt-unsafe): own DIR
      const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
      if (pid > 0) children.emplace(state_of(pid).parent, pid);
    }
    closedir(proc);
  }
  std::vector<std::pair<pid_t, pid_t>> found{{0, getpid()}};
  for (std::size_t next = 0; next < found.size(); ++next) {
    const auto [first, last] = children.equal_range(found[next].second);
    for (auto child = first; child != last; ++child) found.emplace_back(child->first, child->second);
  }
  found.erase(found.begin());
  return found;
}

class own_processes final : public process_tree {
 public:
  std::vector<pid_t> descendants() override {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    parents_.clear();
    for (const auto& [parent, child] : descendants_with_parents()) parents_[child] = parent;
    std::vector<pid_t> all;
    for (const auto& [child, parent] : parents_) all.push_back(child);
    return all;
  }
  void signal(pid_t to, int number) override { signal_child_of(parents_[to], to, number); }
  bool waits_in_the_kernel(pid_t process) override { return launch::waits_in_the_kernel(process); }
  void pause(int ms) override { usleep(static_cast<useconds_t>(ms) * 1000); }
  std::int64_t now_ns() override { return lull::now_ns(); }

 private:
  std::map<pid_t, pid_t> parents_;  // of each descendant
};

}  // namespace

std::vector<pid_t> descendants() {
  std::vector<pid_t> all;
  for (const auto& [parent, child] : descendants_with_parents()) all.push_back(child);
  return all;
}

signal_reader::signal_reader(std::span<const int> signals) : before_{} {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : signals) sigaddset(&wanted, signal);
  sigprocmask(SIG_BLOCK, &wanted, &before_);
  fd_ = descriptor(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) throw error("listen for signals", describe_errno(errno));
}

int signal_reader::next() const {
  signalfd_siginfo info;
  return read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

void signal_reader::unblock_for_program() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

given_descriptors::given_descriptors() {
  DIR* const all = opendir("/proc/self/fd");
  if (!all) throw error("list /proc/self/fd", describe_errno(errno), "mount /proc");
  while (const dirent* const entry = readdir(all)) {  // NOLINT(concurrency-mt-unsafe): own DIR
    char* end = nullptr;
    const auto fd = static_cast<unsigned>(std::strtoul(entry->d_name, &end, 10));
    if (*end == 0 && fd != static_cast<unsigned>(dirfd(all))) open_.push_back(fd);
  }
  closedir(all);
  std::ranges::sort(open_);
}

void given_descriptors::inherit_only_these() const noexcept {
  const auto close_at_exec = [](unsigned first, unsigned last) {
    if (first <= last) (void)syscall(SYS_close_range, first, last, CLOSE_RANGE_CLOEXEC);
  };
  unsigned next = 0;
  for (const unsigned fd : open_) {
    if (fd > next) close_at_exec(next, fd - 1);
    next = fd + 1;
  }
  close_at_exec(next, ~0U);
}

pid_t start(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
            const std::function<void()>& prepare, exec_failure& failure) {
  const auto arguments = pointers_to(argv);
  const auto variables = pointers_to(environment);
  auto [status, status_of_child] = open_pipe();  // a successful exec closes it; otherwise it carries errno
  if (!status) throw error("start " + argv[0], describe_errno(errno));
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw error("start " + argv[0], describe_errno(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    prepare();
    execvpe(arguments[0], arguments.data(), variables.data());
    const int code = errno;
    (void)!write(status_of_child.get(), &code, sizeof code);
    _exit(code == ENOENT ? 127 : 126);
  }
  status_of_child.close();
  int code = 0;
  ssize_t got = 0;
  do got = read(status.get(), &code, sizeof code);
  while (got < 0 && errno == EINTR);
  failure.code = got == sizeof code ? code : 0;
  return child;
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

bool is_ending(pid_t process) {
  constexpr unsigned exiting = 0x4;  // PF_EXITING of the kernel
  const process_state now = state_of(process);
  return now.state == 'X' || (now.flags & exiting) != 0;
}

bool waits_in_the_kernel(pid_t process) { return state_of(process).state == 'D'; }

std::vector<pid_t> end_descendants(process_tree& tree, const ending_times& when) {
  for (const pid_t pid : tree.descendants()) tree.signal(pid, SIGTERM);
  const std::int64_t kill_at = tree.now_ns() + std::int64_t{when.grace_ms} * 1'000'000;
  const std::int64_t give_up_at = kill_at + std::int64_t{when.give_up_ms} * 1'000'000;
  constexpr int shortest_pause_ms = 5, longest_pause_ms = 100;
  for (int pause_ms = shortest_pause_ms;; pause_ms = std::min(2 * pause_ms, longest_pause_ms)) {
    std::vector<pid_t> left = tree.descendants();
    if (left.empty()) return {};
    const std::int64_t now = tree.now_ns();
    if (now > kill_at)
      for (const pid_t pid : left) tree.signal(pid, SIGKILL);
    else
      pause_ms = shortest_pause_ms;
    if (now > give_up_at && std::ranges::all_of(left, [&](pid_t pid) { return tree.waits_in_the_kernel(pid); }))
      return left;
    tree.pause(pause_ms);
  }
}

void end_descendants() {
  own_processes tree;
  for (const pid_t pid : end_descendants(tree))
    std::fprintf(stderr,
                 "lull: process %d cannot be ended and is left behind: it waits in the kernel, for example for a file "
                 "server that does not answer\n",
                 pid);
}

}  // namespace lull::launch
