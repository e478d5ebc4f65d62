// lull-launch: starts N PEs of a program on this machine, for `lull run`.
//
//   lull-launch -n N [--nodes K] [--no-bind] -- PROGRAM ARGUMENTS...
//
// It is a PMIx server for its PEs, like mpirun. PE 0 gets its stdin. The first PE that fails ends the job with one line
// that names it, and its exit code becomes the job's; 125 means that the launcher itself failed. PEs that have left the
// job in order get some time to end by themselves. A signal to the launcher also ends the job. Whatever happens,
// including SIGKILL to the launcher, no PE, segment or file remains.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/topology.hpp"
#include "launch/children.hpp"
#include "launch/pmix_server.hpp"

namespace {

namespace fs = std::filesystem;
using lull::launch::exec_failure;

constexpr int own_failure = 125;                     // exit code, as of env and timeout
constexpr std::int64_t grace_ns = 500'000'000;       // between SIGTERM and SIGKILL
constexpr std::int64_t give_up_ns = 10'000'000'000;  // from then on, for PEs in uninterruptible waits

// A folder for sockets and files of an MPI library, and one in shared memory for the files that an MPI library maps,
// which would leave them behind when it is killed. A child process removes both when this process has ended, for any
// reason.
class temporary_folders {
 public:
  temporary_folders() {
    const fs::path wanted = fs::temp_directory_path() / "lull-XXXXXX";
    const auto made = make(wanted);
    if (!made) throw lull::error("make a folder in " + wanted.string(), lull::describe_errno(errno));
    files_ = *made;
    mapped_ = make("/dev/shm/lull-XXXXXX").value_or(files_);
    try {
      start_remover();
    } catch (...) {
      remove();
      throw;
    }
  }
  [[nodiscard]] const fs::path& files() const { return files_; }
  [[nodiscard]] const fs::path& mapped() const { return mapped_; }

 private:
  static std::optional<fs::path> make(const fs::path& pattern) {
    std::string name = pattern.string();
    return mkdtemp(name.data()) ? std::optional<fs::path>(name) : std::nullopt;
  }

  void remove() const {
    std::error_code ignored;
    for (const fs::path& folder : {files_, mapped_}) fs::remove_all(folder, ignored);
  }

  void start_remover() {
    auto [its, ours] = lull::open_pipe();
    if (!its) throw lull::error("make a pipe", lull::describe_errno(errno));
    const pid_t remover = fork();
    if (remover < 0)
      throw lull::error("start the process that removes the folders of the job", lull::describe_errno(errno),
                        "raise the limit of processes (ulimit -u)");
    if (remover == 0) {
      ours.close();
      sigset_t all;  // only SIGKILL may prevent the removal
      sigfillset(&all);
      sigprocmask(SIG_SETMASK, &all, nullptr);
      for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(fd);
      char byte = 0;
      (void)!read(its.get(), &byte, 1);  // returns when the launcher has ended
      remove();
      _exit(0);
    }
    line_ = std::move(ours);
  }

  fs::path files_, mapped_;
  lull::descriptor line_;  // open during this process's lifetime
};

struct options {
  int pes = 1;
  int nodes = 0;
  bool bind = true;
  int leaving_s = 30;
  std::vector<std::string> command;
};

class job {
 public:
  explicit job(const options& wanted) : wanted_(wanted), server_(wanted.pes, folders_.files()) {}

  int run() {
    for (int rank = 0; rank < wanted_.pes && !end_code_; ++rank) start_pe(rank);
    while (living_ > 0) {
      std::array<pollfd, 2> events{pollfd{signals_.fd(), POLLIN, 0}, pollfd{server_.event_fd(), POLLIN, 0}};
      if (end_code_) events[1].fd = -1;
      poll(events.data(), events.size(), end_code_ ? 20 : -1);
      server_.clear_event();
      if (const auto code = server_.abort_requested(); code && !end_code_) end_job(*code);
      if (const auto line = server_.peer_lost(); line && !end_code_) end_if_all_live(*line);
      for (int signal = signals_.next(); signal != 0; signal = signals_.next()) {
        if (signal == SIGCHLD)
          collect();
        else
          end_job_at_once(128 + signal);
      }
      end_if_one_is_missing();
      if (end_code_ && living_ > 0) end_who_is_late();
    }
    return end_code_.value_or(0);
  }

 private:
  // The mask of a PE has as many sets as necessary.
  [[nodiscard]] std::vector<cpu_set_t> cores_of(int rank) const {
    const std::vector<int>& cpus = shares_[static_cast<std::size_t>(rank)];
    std::vector<cpu_set_t> share(static_cast<std::size_t>(cpus.back()) / CPU_SETSIZE + 1);
    for (const int cpu : cpus) CPU_SET_S(cpu, share.size() * sizeof share[0], share.data());
    return share;
  }

  // Open MPI 4 uses PMIx only under a launcher that it knows; otherwise each process is a separate job. This variable
  // makes it recognise IBM's jsrun, for which it needs nothing else. Open MPI 5 uses PMIx anyway. Other settings of the
  // user are kept.
  void tell_open_mpi(std::vector<std::string>& environment) const {
    lull::launch::set_variable(environment, "JSM_JSRUN_PORT=0");
    for (const char* const maps : {"btl_vader", "btl_sm", "osc_sm", "osc_rdma"})
      lull::launch::set_default(environment,
                                "OMPI_MCA_" + std::string(maps) + "_backing_directory=" + folders_.mapped().string());
  }

  void start_pe(int rank) {
    auto environment = lull::own_environment();
    using lull::launch::set_variable;
    if (wanted_.nodes > 0) set_variable(environment, "LULL_NODES=" + std::to_string(wanted_.nodes));
    set_variable(environment, "PMI_SIZE=" + std::to_string(wanted_.pes));  // PMIx has no variable for it
    tell_open_mpi(environment);
    // UCX tests its memory hooks with a System V segment, which a killed PE leaves behind. Transports between emulated
    // nodes do not need the hooks. UCX reads this variable when it is loaded, so the PE itself cannot set it.
    lull::launch::set_default(environment, "UCX_MEM_EVENTS=no");
    environment = server_.environment_for(rank, std::move(environment));
    const auto cores = wanted_.bind ? cores_of(rank) : std::vector<cpu_set_t>{};
    exec_failure failure;
    const pid_t pid = lull::launch::start(
        wanted_.command, environment,
        [&] {
          signals_.unblock_for_program();
          signal(SIGPIPE, broken_pipe_);
          given_.inherit_only_these();
          if (!cores.empty()) sched_setaffinity(0, cores.size() * sizeof cores[0], cores.data());
          if (rank > 0) {
            const int nothing = open("/dev/null", O_RDONLY);
            dup2(nothing, STDIN_FILENO);
            close(nothing);
          }
        },
        failure);
    pids_.push_back(pid);
    ++living_;
    if (failure.code == 0) return;
    std::fprintf(stderr, "lull: run %s: %s\n", wanted_.command[0].c_str(), lull::describe_errno(failure.code).c_str());
    end_job(failure.code == ENOENT ? 127 : 126);
  }

  void collect() {
    int status = 0;
    for (pid_t ended = waitpid(-1, &status, WNOHANG); ended > 0; ended = waitpid(-1, &status, WNOHANG)) {
      const auto found = std::ranges::find(pids_, ended);
      if (found == pids_.end()) continue;  // the process that removes the folders
      const auto rank = static_cast<int>(found - pids_.begin());
      *found = 0;
      --living_;
      if (end_code_) continue;
      server_.catch_up();
      if (!server_.ever_joined(rank) && !absent_) absent_ = {rank, ended};
      // A PE that called shmem_global_exit may end before PMIx has delivered its request.
      if (const auto code = server_.abort_requested()) {
        end_job(*code);
      } else if (const int code_of_pe = lull::launch::shell_code(status); code_of_pe != 0) {
        const bool left = has_left(rank);
        // A PE that left in order has reported its error itself, and all others have begun to leave by then.
        if (WIFSIGNALED(status) || !server_.left_in_order(rank))
          std::fprintf(stderr, "lull: PE %d (process %d) %s%s\n", rank, ended,
                       lull::launch::describe_end(status).c_str(),
                       living_ > 0 && !left ? "; the other PEs are ended" : "");
        end_job(code_of_pe, left);
      } else if (!server_.left_in_order(rank) && living_ > 0) {
        std::fprintf(stderr, "lull: PE %d (process %d) ended without shmem_finalize; the other PEs are ended\n", rank,
                     ended);
        end_job(1);
      }
    }
  }

  // A PE cannot reach another, nearly always because that one has ended. A process closes its connections when it is
  // already exiting, so its end is reported here, or with its signal; only if no PE is exiting, the network has failed.
  void end_if_all_live(const std::string& line) {
    collect();
    if (end_code_ || std::ranges::any_of(pids_, [](pid_t pid) { return pid != 0 && lull::launch::is_ending(pid); }))
      return;
    std::fprintf(stderr, "lull: %s\n", line.c_str());
    end_job(1);
  }

  // PEs wait in shmem_init for all others, without end if one has ended without it.
  void end_if_one_is_missing() {
    if (!absent_ || end_code_ || living_ == 0) return;
    for (int rank = 0; rank < wanted_.pes; ++rank) {
      if (!server_.ever_joined(rank)) continue;
      std::fprintf(stderr, "lull: PE %d (process %d) ended without shmem_init; the other PEs are ended\n",
                   absent_->rank, absent_->pid);
      return end_job(1);
    }
  }

  [[nodiscard]] bool has_left(int rank) const { return server_.ever_joined(rank) && server_.left_in_order(rank); }

  // Spares, for some time, PEs that have left in order or are leaving: they may still flush their output.
  void end_job(int code, bool all_are_leaving = false) {
    if (end_code_) return;
    end_code_ = code;
    lull::launch::pmix_server::silence();
    spared_.resize(pids_.size());
    for (std::size_t rank = 0; rank < pids_.size(); ++rank)
      spared_[rank] =
          has_left(static_cast<int>(rank)) || (all_are_leaving && server_.ever_joined(static_cast<int>(rank)));
    spared_until_ = lull::now_ns() + std::int64_t{wanted_.leaving_s} * 1'000'000'000;
    tell_to_end();
  }

  void end_job_at_once(int code) {
    end_job(code);
    stop_sparing();
  }

  void stop_sparing() {
    spared_.assign(pids_.size(), false);
    tell_to_end();
  }

  void tell_to_end() {
    deadline_ = lull::now_ns() + grace_ns;
    tell_all(SIGTERM);
  }

  void end_who_is_late() {
    const std::int64_t now = lull::now_ns();
    if (now > deadline_) tell_all(SIGKILL);
    if (now > deadline_ + give_up_ns) give_up_who_waits_in_the_kernel();
    if (now <= spared_until_ || std::ranges::find(spared_, true) == spared_.end()) return;
    for (std::size_t rank = 0; rank < pids_.size(); ++rank)
      if (pids_[rank] != 0 && spared_[rank])
        std::fprintf(stderr, "lull: PE %zu (process %d) still runs %d s after another has failed; it is ended\n", rank,
                     pids_[rank], wanted_.leaving_s);
    stop_sparing();
  }

  // No signal ends PEs in uninterruptible waits.
  void give_up_who_waits_in_the_kernel() {
    for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
      if (pids_[rank] == 0 || spared_[rank] || !lull::launch::waits_in_the_kernel(pids_[rank])) continue;
      std::fprintf(stderr,
                   "lull: PE %zu (process %d) cannot be ended and is left behind: it waits in the kernel, for example "
                   "for a file server that does not answer\n",
                   rank, pids_[rank]);
      pids_[rank] = 0;
      --living_;
    }
  }

  void tell_all(int signal) {  // but those that are spared
    for (std::size_t rank = 0; rank < pids_.size(); ++rank)
      if (pids_[rank] != 0 && !spared_[rank]) kill(pids_[rank], signal);
  }

  const options& wanted_;
  const lull::launch::given_descriptors given_;  // before any other is opened
  temporary_folders folders_;
  // PMIx writes to PEs that may just have ended.
  const sighandler_t broken_pipe_ = signal(SIGPIPE, SIG_IGN);
  static constexpr std::array handled{SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  lull::launch::signal_reader signals_{handled};  // before the server: its thread inherits the blocked signals
  lull::launch::pmix_server server_;
  std::vector<std::vector<int>> shares_ = lull::shares_of(lull::cores_among(lull::allowed_cores()), wanted_.pes);
  std::vector<pid_t> pids_;  // by rank; 0 when it has ended
  int living_ = 0;
  struct ended_pe {
    int rank;
    pid_t pid;
  };
  std::optional<ended_pe> absent_;  // the first that ended before it joined
  std::optional<int> end_code_;     // set while the job is being ended
  std::int64_t deadline_ = 0;       // when PEs that are not spared are killed
  std::vector<bool> spared_;        // by rank, while the job is being ended
  std::int64_t spared_until_ = 0;
};

int launch(int argc, char** argv) {
  try {
    CLI::App app{"Starts the PEs of a program on this machine.", "lull-launch"};
    options wanted;
    app.add_option("-n,--pes", wanted.pes, "Number of PEs")->check(CLI::Range(1, 4096));
    app.add_option("--nodes", wanted.nodes, "Emulated nodes")->check(CLI::Range(1, 4096));
    app.add_flag(
        "--bind,!--no-bind", wanted.bind,
        "Bind the PEs to cores: an equal share of the cores for each PE, or one core if there are more PEs than cores");
    app.add_option("--leaving-s", wanted.leaving_s,
                   "Seconds that a PE that has left in order may take to end by itself after another PE has failed")
        ->check(CLI::Range(0, 1'000'000));
    app.add_option("program", wanted.command, "The program and its arguments")->required();
    app.positionals_at_end();
    CLI11_PARSE(app, argc, argv);
    if (wanted.nodes > wanted.pes)
      throw lull::usage_error(
          "split " + lull::counted(wanted.pes, "PE") + " into " + lull::counted(wanted.nodes, "emulated node"),
          "some nodes would have no PE", "request at most as many --nodes as PEs (-n)");
    return job(wanted).run();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "lull: %s\n", failure.what());
    return own_failure;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int code = launch(argc, argv);
  std::fflush(nullptr);
  _exit(code);  // see pmix_server
}
