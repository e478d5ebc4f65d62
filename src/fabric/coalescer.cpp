#include "fabric/coalescer.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace lull::fabric {

coalescer::coalescer(int pes, std::size_t message_bytes, std::int64_t longest_ns)
    : message_bytes_(message_bytes),
      longest_ns_(longest_ns),
      open_(static_cast<std::size_t>(pes)),
      deadline_fd_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (deadline_fd_ < 0) throw error("make a timer", describe_errno(errno));
}

coalescer::~coalescer() { ::close(deadline_fd_); }

void coalescer::open(pe_id to, message& empty, std::size_t bytes) {
  empty.payload.resize(std::max(message_bytes_, coalesced_put::room_for(bytes)));
  open_[static_cast<std::size_t>(to.index())] = &empty;
  waiting_.push_back(to);
  any_.store(true, std::memory_order_relaxed);
  if (deadline_ns_ != 0) return;
  deadline_ns_ = now_ns() + longest_ns_;
  const itimerspec at{.it_interval = {},
                      .it_value = {.tv_sec = deadline_ns_ / 1'000'000'000, .tv_nsec = deadline_ns_ % 1'000'000'000}};
  timerfd_settime(deadline_fd_, TFD_TIMER_ABSTIME, &at, nullptr);
}

message* coalescer::close(pe_id to) {
  message* const m = std::exchange(open_[static_cast<std::size_t>(to.index())], nullptr);
  if (!m) return nullptr;
  std::erase(waiting_, to);
  if (waiting_.empty()) any_.store(false, std::memory_order_relaxed);
  return m;
}

bool coalescer::overdue() {
  if (deadline_ns_ == 0 || now_ns() < deadline_ns_) return false;
  std::uint64_t expirations = 0;
  (void)!read(deadline_fd_, &expirations, sizeof expirations);
  deadline_ns_ = 0;
  return true;
}

}  // namespace lull::fabric
