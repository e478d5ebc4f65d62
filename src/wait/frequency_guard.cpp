#include "wait/frequency_guard.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <vector>

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

// In a process forked from one that may have had other threads: system calls only.
[[noreturn]] void guard(int line, std::span<const restored_file> files, std::span<const int> kept) {
  setsid();
  close_all_but(kept);
  prctl(PR_SET_NAME, "lull-frequency");
  char byte = 0;
  ssize_t got = 0;
  do got = read(line, &byte, 1);
  while (got < 0 && errno == EINTR);
  if (got == 0)  // end of file without a word: the maker is gone
    for (const restored_file& f : files) (void)!pwrite(f.fd, f.content.data(), f.content.size(), 0);
  _exit(0);
}

}  // namespace

int start_frequency_guard(std::span<const restored_file> files) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return -1;
  std::vector<int> kept{ends[0]};
  for (const restored_file& f : files) kept.push_back(f.fd);
  std::ranges::sort(kept);
  // All signals stay blocked in the guard: only its line to the maker ends it, or kill -9.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) guard(ends[0], files, kept);
    _exit(grandchild < 0 ? 1 : 0);
  }
  const int fork_errno = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ends[0]);
  int status = -1;
  if (child > 0)
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return ends[1];
  close(ends[1]);
  errno = child < 0 ? fork_errno : EAGAIN;
  return -1;
}

void dismiss_frequency_guard(int line) {
  const char leave = 'q';
  (void)send(line, &leave, 1, MSG_NOSIGNAL);  // somebody may have killed the guard: no reason to die of it
  close(line);
}

}  // namespace lull::wait
