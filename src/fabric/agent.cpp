#include "fabric/agent.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/error.hpp"
#include "base/settings.hpp"

namespace lull::fabric {
namespace {

// The longest that a message may wait for the agent when the main thread stops streaming: about two wake-ups.
constexpr long stand_back_ns = 50'000;

void watch(int epoll_fd, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) throw error("start the agent", describe_errno(errno));
}

}  // namespace

agent::agent(remote& transfers)
    : transfers_(transfers),
      timeout_ns_(setting_integer("LULL_WAIT_TIMEOUT_MS") * 1'000'000),
      stop_fd_(eventfd(0, EFD_CLOEXEC)),
      epoll_fd_(epoll_create1(EPOLL_CLOEXEC)) {
  if (stop_fd_ < 0 || epoll_fd_ < 0) throw error("start the agent", describe_errno(errno));
  watch(epoll_fd_, stop_fd_);
  watch(epoll_fd_, transfers_.event_fd());
  watch(epoll_fd_, transfers_.deadline_fd());
  // Signals are the program's: they must reach its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread_.native_handle(), "lull-agent");
}

agent::~agent() {
  stopping_.store(true);
  const std::uint64_t one = 1;
  (void)!write(stop_fd_, &one, sizeof one);
  thread_.join();
  close(stop_fd_);
  close(epoll_fd_);
}

void agent::begin() {
  main_drives_.store(1, std::memory_order_relaxed);
  transfers_.flush();  // what the caller waits for may depend on it
}

void agent::end() {
  main_drives_.store(0, std::memory_order_seq_cst);
  if (parked_.load(std::memory_order_seq_cst) != 0)
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&main_drives_), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void agent::park_while_main_drives() {
  const timespec timeout{.tv_sec = timeout_ns_ / 1'000'000'000, .tv_nsec = timeout_ns_ % 1'000'000'000};
  parked_.store(1, std::memory_order_seq_cst);
  while (main_drives_.load(std::memory_order_seq_cst) != 0 && !stopping_.load(std::memory_order_relaxed))
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&main_drives_), FUTEX_WAIT_PRIVATE, 1, &timeout, nullptr, 0);
  parked_.store(0, std::memory_order_relaxed);
}

void agent::stand_back_while_main_streams() {
  const timespec pause{.tv_sec = 0, .tv_nsec = stand_back_ns};
  for (auto rounds = transfers_.rounds_in_passing(); rounds != rounds_seen_; rounds = transfers_.rounds_in_passing()) {
    rounds_seen_ = rounds;
    nanosleep(&pause, nullptr);
  }
}

void agent::serve() {
  const auto timeout_ms = static_cast<int>(timeout_ns_ / 1'000'000);
  std::array<epoll_event, 3> events;
  while (!stopping_.load(std::memory_order_relaxed)) {
    park_while_main_drives();
    stand_back_while_main_streams();
    do transfers_.progress();
    while (!transfers_.arm() && main_drives_.load(std::memory_order_relaxed) == 0);
    if (main_drives_.load(std::memory_order_relaxed) != 0) continue;
    epoll_wait(epoll_fd_, events.data(), static_cast<int>(events.size()), timeout_ms);
  }
}

}  // namespace lull::fabric
