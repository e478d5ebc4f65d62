#include "fabric/protocol/transport_sleep.hpp"

#include <poll.h>

#include <array>
#include <cerrno>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace lull::fabric {

transport_sleep::transport_sleep(protocol& events) : protocol_(events), nudge_fd_(open_event_fd()) {
  if (!nudge_fd_) throw error("prepare to sleep on the transport", describe_errno(errno));
}

wait::announcement transport_sleep::announce() {
  int nobody = 0;
  if (!sleeping_.compare_exchange_strong(nobody, 1, std::memory_order_seq_cst)) return wait::announcement::taken;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // announced before the caller checks once more
  if (protocol_.arm()) return wait::announcement::announced;
  sleeping_.store(0, std::memory_order_relaxed);
  return wait::announcement::busy;
}

wait::wake transport_sleep::sleep(std::int64_t timeout_ns) {
  const timespec timeout = timespec_of(timeout_ns);
  std::array<pollfd, 2> wanted{pollfd{protocol_.event_fd(), POLLIN, 0}, pollfd{nudge_fd_.get(), POLLIN, 0}};
  int events = ppoll(wanted.data(), wanted.size(), &timeout, nullptr);
  // On a busy machine a wake-up may be sent between the end of the sleep and this point: it counts.
  if (events == 0) events = poll(wanted.data(), wanted.size(), 0);
  if (events > 0 && wanted[1].revents != 0) clear_event_fd(nudge_fd_.get());
  sleeping_.store(0, std::memory_order_release);
  return events == 0 ? wait::wake::timed_out : wait::wake::rung;
}

void transport_sleep::nudge() { signal_event_fd(nudge_fd_.get()); }

}  // namespace lull::fabric
