// A job for tests: processes forked from the test, which exchange data through shared memory.
#pragma once
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "stage/link/exchange.hpp"

namespace lull::stage {

// Waits until another process has come so far; ctest limits the time.
template <class Condition>
void await(const Condition& holds) {
  while (!holds()) sched_yield();
}

inline void stop(pid_t process) {
  kill(process, SIGSTOP);
  await([process] {
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string pid, name, state;
    return stat >> pid >> name >> state && state == "T";
  });
}

inline constexpr std::size_t most_processes = 16, most_told = 32768;

struct meeting_place {
  pthread_barrier_t barrier;
  std::array<std::size_t, most_processes> told_bytes;
  std::array<std::array<std::byte, most_told>, most_processes> told;
  std::array<std::atomic<pid_t>, most_processes> pids;
  std::array<std::atomic<int>, 8> flags;  // for the test
};

class forked_exchange final : public exchange {
 public:
  forked_exchange(meeting_place& place, int rank, const std::vector<std::string>& nodes)
      : place_(place), rank_(rank), nodes_(nodes) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(nodes_.size()); }
  [[nodiscard]] std::string node() const override { return nodes_[static_cast<std::size_t>(rank_)]; }
  [[nodiscard]] std::vector<std::vector<std::byte>> all(std::span<const std::byte> mine) override {
    const auto me = static_cast<std::size_t>(rank_);
    if (mine.size() > most_told) std::abort();
    place_.told_bytes[me] = mine.size();
    std::copy(mine.begin(), mine.end(), place_.told[me].begin());
    pthread_barrier_wait(&place_.barrier);
    std::vector<std::vector<std::byte>> told;
    for (std::size_t other = 0; other < nodes_.size(); ++other)
      told.emplace_back(place_.told[other].begin(),
                        place_.told[other].begin() + static_cast<std::ptrdiff_t>(place_.told_bytes[other]));
    pthread_barrier_wait(&place_.barrier);
    return told;
  }

 private:
  meeting_place& place_;
  int rank_;
  const std::vector<std::string>& nodes_;
};

class processes {
 public:
  // `body` runs in each process and returns its exit code.
  processes(std::vector<std::string> nodes, const std::function<int(exchange&, meeting_place&)>& body)
      : nodes_(std::move(nodes)), said_(memfd_create("stderr", MFD_CLOEXEC)) {
    void* const memory =
        mmap(nullptr, sizeof(meeting_place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    place_ = new (memory) meeting_place{};
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&place_->barrier, &shared, static_cast<unsigned>(nodes_.size()));
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
      const pid_t child = fork();
      if (child == 0) run(static_cast<int>(rank), body);
      place_->pids[rank] = child;
      running_.push_back(true);
    }
  }
  processes(const processes&) = delete;
  processes& operator=(const processes&) = delete;
  ~processes() {
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank)
      if (running_[rank]) {
        kill(pid(static_cast<int>(rank)), SIGKILL);
        (void)wait(static_cast<int>(rank));
      }
    close(said_);
    munmap(place_, sizeof *place_);
  }

  [[nodiscard]] pid_t pid(int rank) const { return place_->pids[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] meeting_place& place() const { return *place_; }
  // The exit code of the process, or 128 plus the signal that ended it.
  int wait(int rank) {
    int status = 0;
    while (waitpid(pid(rank), &status, 0) < 0 && errno == EINTR) continue;
    running_[static_cast<std::size_t>(rank)] = false;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  std::vector<int> wait_all() {
    std::vector<int> codes;
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank) codes.push_back(wait(static_cast<int>(rank)));
    return codes;
  }
  // What the processes have written to stderr.
  [[nodiscard]] std::string said() const {
    std::string text(static_cast<std::size_t>(lseek(said_, 0, SEEK_END)), '\0');
    return pread(said_, text.data(), text.size(), 0) < 0 ? "" : text;
  }

 private:
  [[noreturn]] void run(int rank, const std::function<int(exchange&, meeting_place&)>& body) {
    dup2(said_, STDERR_FILENO);
    dup2(said_, STDOUT_FILENO);  // failed expectations
    place_->pids[static_cast<std::size_t>(rank)] = getpid();
    int code = 99;
    try {
      forked_exchange others(*place_, rank, nodes_);
      code = body(others, *place_);
    } catch (const std::exception& why) {
      dprintf(STDERR_FILENO, "process %d: %s\n", rank, why.what());
    }
    if (testing::Test::HasFailure()) code = 98;
    _exit(code);
  }

  std::vector<std::string> nodes_;
  int said_;
  meeting_place* place_ = nullptr;
  std::vector<bool> running_;
};

}  // namespace lull::stage
