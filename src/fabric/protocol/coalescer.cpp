#include "fabric/protocol/coalescer.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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
  if (!deadline_fd_) throw error("make a timer", describe_errno(errno));
}

void coalescer::open(pe_id to, message& empty, std::size_t bytes) {
  const std::size_t room = std::max(message_bytes_, coalesced_put::room_for(bytes));
  if (empty.payload.size() < room) empty.payload.resize(room);
  const std::int64_t now = now_ns();
  open_[static_cast<std::size_t>(to.index())] = {.content = &empty, .room = room, .since_ns = now, .last_ns = now};
  waiting_.push_back(to);
  any_.store(true, std::memory_order_relaxed);
  if (deadline_ns_ == 0) set_timer(now + longest_ns_ / 2);
}

void coalescer::begin_run(open_message& o) {
  const auto [puts, bytes, last, stride] = std::exchange(o.like, {});
  constexpr auto farthest = std::ptrdiff_t{1} << 30;
  if (bytes == 0 || bytes > coalesced_run::most_bytes || stride < -farthest || stride > farthest) return;
  const std::size_t taken = coalesced_put::room_for(bytes), begin = o.last_begin - (puts - 1) * taken;
  coalesced_run run(last - (puts - 1) * static_cast<std::size_t>(stride), static_cast<std::int32_t>(stride), bytes);
  run.puts = static_cast<std::uint16_t>(puts);
  std::byte* const at = o.content->payload.data() + begin;
  static_assert(sizeof(coalesced_run) == 2 * sizeof(coalesced_put));
  std::array<std::byte, coalesced_run::fewest_puts * coalesced_run::most_bytes> all;
  for (std::size_t i = 0; i < puts; ++i)
    std::memcpy(all.data() + i * bytes, at + i * taken + sizeof(coalesced_put), bytes);
  std::memcpy(at, &run, sizeof run);
  std::memcpy(at + sizeof run, all.data(), puts * bytes);
  o.run = {.bytes = bytes,
           .next = last + static_cast<std::size_t>(stride),
           .stride = stride,
           .begin = begin,
           .end = begin + sizeof run + puts * bytes,
           .puts = run.puts};
  o.content->payload_bytes = begin + sizeof run + run.data_bytes();
  o.last_end = o.last_offset = coalesced_put::most_offset;  // no put joins the last of a run
}

coalescer::closed coalescer::close(pe_id to) {
  open_message& o = open_[static_cast<std::size_t>(to.index())];
  if (!o.content) return {};
  std::erase(waiting_, to);
  if (waiting_.empty()) any_.store(false, std::memory_order_relaxed);
  o.last_of = 0;
  return {std::exchange(o.content, nullptr), o.puts, o.last_ns};
}

void coalescer::set_timer(std::int64_t at_ns) {
  deadline_ns_ = at_ns;
  const itimerspec at{.it_interval = {},
                      .it_value = {.tv_sec = deadline_ns_ / 1'000'000'000, .tv_nsec = deadline_ns_ % 1'000'000'000}};
  timerfd_settime(deadline_fd_.get(), TFD_TIMER_ABSTIME, &at, nullptr);
}

std::vector<coalescer::late_message> coalescer::overdue() {
  if (deadline_ns_ == 0) return {};
  const std::int64_t now = now_ns();
  if (now < deadline_ns_) return {};
  std::uint64_t expirations = 0;
  (void)!read(deadline_fd_.get(), &expirations, sizeof expirations);
  deadline_ns_ = 0;
  std::vector<late_message> late;
  std::int64_t next = 0;
  for (const pe_id pe : waiting_) {
    open_message& o = open_[static_cast<std::size_t>(pe.index())];
    const std::int64_t half = o.since_ns + longest_ns_ / 2, end = o.since_ns + longest_ns_;
    if (end <= now) {
      // A message seen too late for a check at half time counts as left lying: the other mistake would cost more.
      late.push_back({pe, !o.puts_at_half || o.puts == *o.puts_at_half});
      continue;
    }
    if (half <= now && !o.puts_at_half) o.puts_at_half = o.puts;
    const std::int64_t due = half <= now ? end : half;
    if (next == 0 || due < next) next = due;
  }
  if (next != 0) set_timer(next);
  return late;
}

}  // namespace lull::fabric
