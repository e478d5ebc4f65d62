#include "stage/files/storage_limit.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <string>

#include "base/clock.hpp"
#include "stage/link/packet.hpp"

namespace lull::stage {
namespace {

constexpr double seconds_of_piece = 0.0005;       // the storage takes this much at a time from one writer
constexpr std::int64_t caught_up_ns = 2'000'000;  // the time that a writer that was woken late may catch up

std::string this_machine() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return boot;
}

void sleep_until(std::int64_t when_ns) {
  const timespec when = timespec_of(when_ns);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR) continue;
}

}  // namespace

// The content of the segment.
struct storage_limit::shared {
  std::uint64_t nonce;                // the segment's own
  std::atomic<std::int64_t> free_ns;  // time at which the storage will have taken everything given to it
  std::atomic<int> writers;           // at the moment
};

storage_limit::storage_limit(std::size_t bytes_per_s, double writers_at_half_speed, exchange& others)
    : bytes_per_s_(bytes_per_s), writers_at_half_speed_(writers_at_half_speed) {
  if (bytes_per_s == 0) return;
  const std::string machine = this_machine();
  job::segment own;
  job::mapping mine = own.map_own(sizeof(shared));
  const auto messages = others.all(packet().put(machine).put(own.name()).bytes());
  // The first process of this machine has it.
  const auto at =
      std::ranges::find_if(messages, [&](const auto& one) { return packet_reader(one).take_text() == machine; });
  packet_reader first(*at);
  (void)first.take_text();
  const auto name = first.take<job::segment_name>();
  state_ = std::make_shared<job::mapping>(at - messages.begin() == others.rank() ? std::move(mine)
                                                                                 : job::map_peer(name, sizeof(shared)));
  (void)others.all({});  // all have mapped it
}

double storage_limit::seconds_of(double bytes, int writers) const {
  const double hindered = writers_at_half_speed_ > 0 ? 1 + writers / writers_at_half_speed_ : 1;
  return bytes * hindered / static_cast<double>(bytes_per_s_);
}

void storage_limit::pass(std::uint64_t bytes) const {
  if (!state_) return;
  shared& all = *reinterpret_cast<shared*>(state_->data());
  ++all.writers;
  for (double rest = static_cast<double>(bytes); rest > 0;) {
    const double piece = std::min(rest, seconds_of_piece * static_cast<double>(bytes_per_s_));
    const auto takes_ns = static_cast<std::int64_t>(1e9 * seconds_of(piece, all.writers));
    std::int64_t free = all.free_ns.load();
    std::int64_t taken = 0;
    do taken = std::max(free, now_ns() - caught_up_ns) + takes_ns;
    while (!all.free_ns.compare_exchange_weak(free, taken));
    sleep_until(taken);
    rest -= piece;
  }
  --all.writers;
}

}  // namespace lull::stage
