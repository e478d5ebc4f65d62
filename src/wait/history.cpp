#include "wait/history.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace lull::wait {
namespace {

// The octave of the size and two more bits: sizes of one class differ by less than a quarter.
std::uint64_t size_class(std::size_t bytes) {
  if (bytes < 8) return bytes;
  const auto octave = static_cast<unsigned>(std::bit_width(bytes));
  return std::uint64_t{octave} << 2U | (bytes >> (octave - 3) & 3U);
}

std::uint64_t mixed(std::uint64_t key) {
  key *= 0x9e3779b97f4a7c15U;  // Knuth's multiplicative hashing: 2^64 divided by the golden ratio
  return key ^ key >> 32U;
}

}  // namespace

wait_history::wait_history(std::size_t kinds, const model::waiting_costs& costs) : costs_(costs), kinds_(kinds) {}

std::span<wait_history::kind> wait_history::set_of(std::uint64_t key) {
  return std::span(kinds_).subspan(mixed(key) % (kinds_.size() / ways) * ways, ways);
}

std::uint64_t wait_history::key_of(const awaited& what) {
  const auto peer = static_cast<std::uint64_t>(static_cast<std::uint32_t>(what.peer));
  const std::uint64_t key = peer << 32U | size_class(what.bytes) << 8U | (static_cast<std::uint64_t>(what.what) + 1);
  return what.site == 0 ? key : (key ^ mixed(what.site)) | 1U;  // 0 is no key
}

wait_history::kind* wait_history::find(std::uint64_t key) {
  const std::span set = set_of(key);
  const auto found = std::ranges::find(set, key, &kind::key);
  return found == set.end() ? nullptr : &*found;
}

std::optional<model::slack_prediction> wait_history::predict(const awaited& what) {
  const std::lock_guard hold(lock_);
  const kind* const known = find(key_of(what));
  if (!known) return std::nullopt;
  return model::predict_slack({known->ns.data(), std::min(known->count, kept)}, wake_up_latency(), costs_);
}

std::optional<model::slack_prediction> wait_history::predict_longer(const awaited& what, std::int64_t than_ns) {
  const std::lock_guard hold(lock_);
  const kind* const known = find(key_of(what));
  if (!known) return std::nullopt;
  std::array<std::int64_t, kept> longer{};
  const auto seen = known->ns.begin() + static_cast<std::ptrdiff_t>(std::min(known->count, kept));
  const auto end = std::copy_if(known->ns.begin(), seen, longer.begin(), [&](auto ns) { return ns > than_ns; });
  const auto count = static_cast<std::size_t>(end - longer.begin());
  return model::predict_slack({longer.data(), count}, wake_up_latency(), costs_, 1);
}

void wait_history::waited(const awaited& what, std::int64_t ns) {
  const std::lock_guard hold(lock_);
  const std::uint64_t key = key_of(what);
  kind* known = find(key);
  if (!known) {
    const std::span set = set_of(key);
    known = &*std::ranges::min_element(set, {}, &kind::last_seen);
    *known = kind{.key = key};
  }
  known->last_seen = ++time_;
  known->ns[known->count++ % kept] = ns;
}

void wait_history::timer_was_late(std::int64_t ns) {
  const std::lock_guard hold(lock_);
  latencies_ns_[timers_++ % latencies_ns_.size()] = ns;
}

std::int64_t wait_history::wake_up_latency() const {
  return model::wake_up_latency_ns({latencies_ns_.data(), std::min(timers_, latencies_ns_.size())}, costs_);
}

}  // namespace lull::wait
