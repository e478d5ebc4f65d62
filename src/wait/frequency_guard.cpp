#include "wait/frequency_guard.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>
#include <vector>

#include "base/blocked_signals.hpp"

namespace lull::wait {
namespace {

void close_all_but(std::span<const int> kept) {  // ascending
  unsigned from = 0;
  for (const int fd : kept) {
    if (static_cast<unsigned>(fd) > from) close_range(from, static_cast<unsigned>(fd) - 1, 0);
    from = static_cast<unsigned>(fd) + 1;
  }
  close_range(from, UINT_MAX, 0);
}

// Runs in a process forked from one that may have several threads: system calls only.
[[noreturn]] void guard(int line, std::span<const restored_file> files, std::span<const int> kept) {
  setsid();
  close_all_but(kept);
  prctl(PR_SET_NAME, "lull-frequency");
  char byte = 0;
  ssize_t got = 0;
  do got = read(line, &byte, 1);
  while (got < 0 && errno == EINTR);
  if (got == 0)  // end of file without a message: the maker has ended
    for (const restored_file& f : files) (void)!pwrite(f.fd, f.content.data(), f.content.size(), 0);
  _exit(0);
}

}  // namespace

descriptor start_frequency_guard(std::span<const restored_file> files) {
  auto [its, ours] = open_socket_pair(SOCK_STREAM);
  if (!its) return {};
  std::vector<int> kept{its.get()};
  for (const restored_file& f : files) kept.push_back(f.fd);
  std::ranges::sort(kept);
  pid_t child = 0;
  int fork_errno = 0;
  {
    // All signals stay blocked in the guard: only its line to the maker, or SIGKILL, ends it.
    const blocked_signals in_the_guard;
    child = fork();
    if (child == 0) {
      const pid_t grandchild = fork();
      if (grandchild == 0) guard(its.get(), files, kept);
      _exit(grandchild < 0 ? 1 : 0);
    }
    fork_errno = errno;
  }
  int status = -1;
  if (child > 0)
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::move(ours);
  errno = child < 0 ? fork_errno : EAGAIN;
  return {};
}

void dismiss_frequency_guard(descriptor line) {
  const char leave = 'q';
  (void)send(line.get(), &leave, 1, MSG_NOSIGNAL);  // the guard may have been killed, which must not end this process
}

}  // namespace lull::wait
