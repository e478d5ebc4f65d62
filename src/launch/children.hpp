// Starts programs so that none is lost, and ends them so that none remains.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace lull::launch {

// Blocks these signals for the process and provides a descriptor that reads them; unblock_for_program() undoes this in
// a child.
class signal_reader {
 public:
  explicit signal_reader(std::span<const int> signals);
  signal_reader(const signal_reader&) = delete;
  signal_reader& operator=(const signal_reader&) = delete;
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] int next() const;  // the number of a pending signal, or 0
  void unblock_for_program() const;

 private:
  sigset_t before_;
  descriptor fd_;
};

// The descriptors that this process was given. A program that it starts inherits these, and not those that libraries have
// opened since: the sockets and pipes of other processes.
class given_descriptors {
 public:
  given_descriptors();  // those that are open now
  // In a child, before exec; async-signal-safe. Does nothing on kernels before 5.11.
  void inherit_only_these() const noexcept;

 private:
  std::vector<unsigned> open_;  // ascending
};

struct exec_failure {
  int code = 0;  // errno of execvp; 0: the program is running
};

// Forks and executes argv, found by PATH, with `environment`. The child is killed (SIGKILL) when this process ends.
// `prepare` runs in the child before exec and may only make async-signal-safe calls.
pid_t start(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
            const std::function<void()>& prepare, exec_failure& failure);

// Replaces any earlier value of NAME by "NAME=value", because a program would see the first of two.
void set_variable(std::vector<std::string>& environment, const std::string& assignment);
// The same, unless NAME has a value.
void set_default(std::vector<std::string>& environment, const std::string& assignment);

// Converts a status from waitpid() as a shell does: the exit code, or 128 + n for signal n.
[[nodiscard]] int shell_code(int wait_status);

// "exited with code 7" or "was ended by SIGKILL".
[[nodiscard]] std::string describe_end(int wait_status);

// Whether it is in an uninterruptible wait in the kernel, for example for a file server that does not respond.
[[nodiscard]] bool waits_in_the_kernel(pid_t process);

// Whether it has begun to exit, or has exited.
[[nodiscard]] bool is_ending(pid_t process);

// All living descendants of this process; those of orphans only if it is a subreaper.
[[nodiscard]] std::vector<pid_t> descendants();

// The system functions for ending processes; tests replace them.
class process_tree {
 public:
  virtual ~process_tree() = default;
  [[nodiscard]] virtual std::vector<pid_t> descendants() = 0;
  virtual void signal(pid_t to, int number) = 0;
  [[nodiscard]] virtual bool waits_in_the_kernel(pid_t process) = 0;
  virtual void pause(int ms) = 0;
  [[nodiscard]] virtual std::int64_t now_ns() = 0;
};

struct ending_times {
  int grace_ms = 1000;         // from SIGTERM to SIGKILL
  int give_up_ms = 10 * 1000;  // from SIGKILL on, for processes that stay in uninterruptible waits
};

// Ends every descendant: SIGTERM, then SIGKILL, until none is left except those in uninterruptible waits, which it
// returns. Orphans count as descendants only if this process is a subreaper.
std::vector<pid_t> end_descendants(process_tree& tree, const ending_times& when = {});
// The same for this process, with a line on stderr for each process that is left.
void end_descendants();

}  // namespace lull::launch
