#include "fabric/agent.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/error.hpp"
#include "base/settings.hpp"

namespace lull::fabric {
namespace {

// The longest that a message may wait for the agent when the main thread stops streaming: about two wake-ups.
constexpr long stand_back_ns = 50'000;

void add_to(int epoll_fd, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) throw error("start the agent", describe_errno(errno));
}

}  // namespace

agent::agent(remote& transfers)
    : transfers_(transfers),
      timeout_ns_(setting_integer("LULL_WAIT_TIMEOUT_MS") * 1'000'000),
      kick_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      nudge_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      epoll_fd_(epoll_create1(EPOLL_CLOEXEC)) {
  if (kick_fd_ < 0 || nudge_fd_ < 0 || epoll_fd_ < 0) throw error("start the agent", describe_errno(errno));
  add_to(epoll_fd_, kick_fd_);
  add_to(epoll_fd_, transfers_.event_fd());
  add_to(epoll_fd_, transfers_.deadline_fd());
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
  signal(kick_fd_);
  thread_.join();
  close(kick_fd_);
  close(nudge_fd_);
  close(epoll_fd_);
}

void agent::signal(int event_fd) {
  const std::uint64_t one = 1;
  (void)!write(event_fd, &one, sizeof one);
}

void agent::settle(int event_fd) {
  std::uint64_t count = 0;
  (void)!read(event_fd, &count, sizeof count);
}

void agent::begin() {
  if (driving_.fetch_add(1, std::memory_order_seq_cst) == 0) watch_or_not();
  transfers_.flush();  // what the caller waits for may depend on it
}

void agent::end() {
  if (driving_.fetch_sub(1, std::memory_order_seq_cst) != 1) return;
  // From here on an event must reach the agent: the descriptor armed, then watched.
  if (!transfers_.arm()) signal(kick_fd_);
  watch_or_not();
}

// Whoever changes driving_ last comes here last, and finds what is true then.
void agent::watch_or_not() {
  const std::lock_guard hold(watch_lock_);
  const bool wanted = driving_.load(std::memory_order_seq_cst) == 0;
  if (wanted == watched_) return;
  epoll_event event{};
  event.events = wanted ? EPOLLIN : 0U;
  event.data.fd = transfers_.event_fd();
  epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, transfers_.event_fd(), &event);
  watched_ = wanted;
}

announcement agent::announce_sleep() {
  int nobody = 0;
  if (!sleeper_.compare_exchange_strong(nobody, 1, std::memory_order_seq_cst)) return announcement::taken;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // announced before the caller looks once more
  if (transfers_.arm()) return announcement::announced;
  sleeper_.store(0, std::memory_order_relaxed);
  return announcement::busy;
}

wake agent::sleep(std::int64_t timeout_ns) {
  const timespec timeout{.tv_sec = timeout_ns / 1'000'000'000, .tv_nsec = timeout_ns % 1'000'000'000};
  std::array<pollfd, 2> wanted{pollfd{transfers_.event_fd(), POLLIN, 0}, pollfd{nudge_fd_, POLLIN, 0}};
  int events = ppoll(wanted.data(), wanted.size(), &timeout, nullptr);
  // On a busy machine it may be nudged between the end of the sleep and here: that wake-up was sent.
  if (events == 0) events = poll(wanted.data(), wanted.size(), 0);
  if (events > 0 && wanted[1].revents != 0) settle(nudge_fd_);
  sleeper_.store(0, std::memory_order_release);
  return events == 0 ? wake::timed_out : wake::rung;
}

void agent::retract_sleep() { sleeper_.store(0, std::memory_order_release); }

void agent::serve_at_full(std::shared_ptr<core_frequency> frequency) {
  kept_ = std::move(frequency);
  frequency_.store(kept_.get(), std::memory_order_release);
}

std::int64_t agent::serving_cpu_ns() const {
  clockid_t clock{};
  timespec t{};
  // The thread lives as long as this object, so its clock is there.
  if (pthread_getcpuclockid(const_cast<std::thread&>(thread_).native_handle(), &clock) != 0) return 0;
  clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

void agent::stand_back_while_main_streams() {
  const timespec pause{.tv_sec = 0, .tv_nsec = stand_back_ns};
  for (auto rounds = transfers_.rounds_in_passing(); rounds != rounds_seen_; rounds = transfers_.rounds_in_passing()) {
    rounds_seen_ = rounds;
    nanosleep(&pause, nullptr);
  }
}

void agent::serve_what_has_arrived() {
  core_frequency* const frequency = frequency_.load(std::memory_order_acquire);
  if (frequency) frequency->work_begin();
  do transfers_.progress();
  while (!transfers_.arm() && driving_.load(std::memory_order_relaxed) == 0);
  if (frequency) frequency->work_end();
}

void agent::serve() {
  const auto timeout_ms = static_cast<int>(timeout_ns_ / 1'000'000);
  std::array<epoll_event, 3> events;
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (driving_.load(std::memory_order_seq_cst) == 0) {
      stand_back_while_main_streams();
      if (driving_.load(std::memory_order_seq_cst) == 0) serve_what_has_arrived();
    }
    const int count = epoll_wait(epoll_fd_, events.data(), static_cast<int>(events.size()), timeout_ms);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == kick_fd_) settle(kick_fd_);
      if (fd == transfers_.deadline_fd()) transfers_.progress();  // also while others drive: they may be asleep
    }
  }
}

}  // namespace lull::fabric
