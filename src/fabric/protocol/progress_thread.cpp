#include "fabric/protocol/progress_thread.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/blocked_signals.hpp"
#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "model/machine/machine_file.hpp"
#include "wait/timer_slack.hpp"

namespace lull::fabric {
namespace {

void add_to(int epoll_fd, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
    throw error("start the progress thread", describe_errno(errno));
}

}  // namespace

progress_thread::progress_thread(protocol& messages, bool oversubscribed, int cores)
    : protocol_(messages),
      sleeper_(messages),
      oversubscribed_(oversubscribed),
      cores_(cores),
      costs_(model::this_machine().progress),
      timeout_ns_(setting_integer("LULL_WAIT_TIMEOUT_MS") * 1'000'000),
      kick_fd_(open_event_fd()),
      epoll_fd_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!kick_fd_ || !epoll_fd_) throw error("start the progress thread", describe_errno(errno));
  add_to(epoll_fd_.get(), kick_fd_.get());
  add_to(epoll_fd_.get(), protocol_.event_fd());
  add_to(epoll_fd_.get(), protocol_.deadline_fd());
  {
    const blocked_signals in_the_thread;
    try {
      thread_ = std::thread([this] { serve(); });
    } catch (const std::system_error& failure) {
      throw error("start the progress thread", describe_errno(failure.code().value()),
                  "raise the limit of processes and threads (ulimit -u)");
    }
  }
  pthread_setname_np(thread_.native_handle(), "lull-progress");
}

progress_thread::~progress_thread() {
  stopping_.store(true);
  signal_event_fd(kick_fd_.get());
  thread_.join();
}

void progress_thread::begin() {
  if (driving_.fetch_add(1, std::memory_order_seq_cst) == 0) watch_or_not();
  protocol_.flush();  // what the caller waits for may depend on these puts
}

void progress_thread::end() {
  if (driving_.fetch_sub(1, std::memory_order_seq_cst) != 1) return;
  if (!streams()) take_over();
}

void progress_thread::test() {
  protocol_.flush();
  protocol_.progress();
  (void)streams();
}

// Returns whether a wait or test that ends now ended soon after another. If so, the progress thread stands back, and
// resumes by itself afterwards. Never true where PEs, or threads of this PE, outnumber cores: there the thread's next
// turn may come late, and another thread may sleep until then.
bool progress_thread::streams() {
  if (oversubscribed_ || wait::waiting::threads_outnumber(cores_)) return false;
  const std::int64_t now = now_ns(), before = last_wait_ended_.exchange(now, std::memory_order_seq_cst);
  if (standing_back_.load(std::memory_order_seq_cst)) return true;
  if (now - before >= costs_.stream_of_waits_ns) return false;
  standing_back_.store(true, std::memory_order_seq_cst);
  signal_event_fd(kick_fd_.get());
  return true;
}

void progress_thread::hand_over() {
  if (driving_.fetch_sub(1, std::memory_order_seq_cst) != 1) return;
  last_wait_ended_.store(0, std::memory_order_seq_cst);
  if (standing_back_.load(std::memory_order_seq_cst)) return signal_event_fd(kick_fd_.get());
  take_over();
}

// From here on events must reach the progress thread: arms the descriptor, then watches it.
void progress_thread::take_over() {
  if (!protocol_.arm()) signal_event_fd(kick_fd_.get());
  watch_or_not();
}

// Every change of driving_ is followed by this call, so the last call sees the final value.
void progress_thread::watch_or_not() {
  const std::lock_guard hold(watch_lock_);
  const bool wanted = driving_.load(std::memory_order_seq_cst) == 0;
  if (wanted == watched_) return;
  // Deletes the descriptor rather than clearing its events, because otherwise the kernel still visits it at each
  // arrival. Where PEs outnumber cores, turns are frequent and clearing is the cheaper change.
  epoll_event event{};
  event.events = wanted ? EPOLLIN : 0U;
  event.data.fd = protocol_.event_fd();
  const int change = oversubscribed_ ? EPOLL_CTL_MOD : wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL;
  epoll_ctl(epoll_fd_.get(), change, protocol_.event_fd(), &event);
  watched_ = wanted;
}

void progress_thread::serve_at_full(std::shared_ptr<wait::core_frequency> frequency) {
  frequency_.set(std::move(frequency));
}

std::int64_t progress_thread::serving_cpu_ns() const {
  clockid_t clock{};
  // The thread lives as long as this object, so its clock exists.
  return pthread_getcpuclockid(const_cast<std::thread&>(thread_).native_handle(), &clock) == 0 ? ns_on(clock) : 0;
}

void progress_thread::stand_back_while_main_streams() {
  const std::int64_t begin = now_ns();
  for (;;) {
    const std::int64_t now = now_ns();
    const std::int64_t turn =
        std::clamp((now - begin) / costs_.stand_back_share, costs_.least_stand_back_ns, costs_.most_stand_back_ns);
    std::int64_t left = 0;
    if (standing_back_.load(std::memory_order_seq_cst))
      left = turn - (now - last_wait_ended_.load(std::memory_order_seq_cst));
    if (const auto rounds = protocol_.opportunistic_rounds(); rounds != rounds_seen_) {
      rounds_seen_ = rounds;
      left = turn;
    }
    if (left <= 0) break;
    standing_back_.store(true, std::memory_order_seq_cst);
    nap(left);
  }
  // A thread that ended a wait before this store has left its arrivals to the progress thread, which serves them next.
  standing_back_.store(false, std::memory_order_seq_cst);
}

void progress_thread::nap(std::int64_t ns) {
  const timespec pause = timespec_of(ns);
  pollfd kicked{kick_fd_.get(), POLLIN, 0};
  if (ppoll(&kicked, 1, &pause, nullptr) > 0) clear_event_fd(kick_fd_.get());
}

void progress_thread::serve_what_has_arrived() {
  wait::core_frequency* const frequency = frequency_.get();
  if (frequency) frequency->work_begin();
  do protocol_.progress();
  while (!protocol_.arm() && driving_.load(std::memory_order_relaxed) == 0);
  if (frequency) frequency->work_end();
}

void progress_thread::serve() {
  const auto timeout_ms = static_cast<int>(timeout_ns_ / 1'000'000);
  std::array<epoll_event, 3> events;
  wait::wake_without_slack();
  for (;;) {
    stand_back_while_main_streams();
    if (driving_.load(std::memory_order_seq_cst) == 0) {
      serve_what_has_arrived();
      watch_or_not();
    }
    if (stopping_.load(std::memory_order_seq_cst)) return;
    const int count = epoll_wait(epoll_fd_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == kick_fd_.get()) clear_event_fd(kick_fd_.get());
      if (fd == protocol_.deadline_fd()) protocol_.progress();  // even while others drive: they may be asleep
    }
  }
}

}  // namespace lull::fabric
