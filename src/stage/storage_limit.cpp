#include "stage/storage_limit.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <string>

#include "base/clock.hpp"
#include "stage/packet.hpp"

namespace lull::stage {
namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 18U;

std::string this_machine() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return boot;
}

void sleep_until(std::int64_t when_ns) {
  const timespec when{when_ns / 1'000'000'000, when_ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR) continue;
}

}  // namespace

// What the segment holds.
struct storage_limit::shared {
  std::uint64_t nonce;                // the segment's own
  std::atomic<std::int64_t> free_ns;  // when the storage has taken all it was given
};

storage_limit::storage_limit(std::size_t bytes_per_s, exchange& others) : bytes_per_s_(bytes_per_s) {
  if (bytes_per_s == 0) return;
  const std::string machine = this_machine();
  job::segment own;
  job::mapping mine = own.map_own(sizeof(shared));
  const auto told = others.all(packet().put(machine).put(own.name()).bytes());
  for (int process = 0; !state_; ++process) {
    packet_reader reader(told[static_cast<std::size_t>(process)]);
    if (reader.take_text() != machine) continue;
    const auto name = reader.take<job::segment_name>();
    state_ = std::make_shared<job::mapping>(process == others.rank() ? std::move(mine)
                                                                     : job::map_peer(name, sizeof(shared)));
  }
  (void)others.all({});  // all have mapped it
}

void storage_limit::pass(std::uint64_t bytes) const {
  if (!state_) return;
  std::atomic<std::int64_t>& free_ns = reinterpret_cast<shared*>(state_->data())->free_ns;
  while (bytes > 0) {
    const std::uint64_t piece = std::min(bytes, piece_bytes);
    const auto takes_ns =
        static_cast<std::int64_t>(static_cast<double>(piece) * 1e9 / static_cast<double>(bytes_per_s_));
    std::int64_t free = free_ns.load();
    std::int64_t taken = 0;
    do taken = std::max(free, now_ns()) + takes_ns;
    while (!free_ns.compare_exchange_weak(free, taken));
    sleep_until(taken);
    bytes -= piece;
  }
}

}  // namespace lull::stage
