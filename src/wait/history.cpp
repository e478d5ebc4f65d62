#include "wait/history.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "base/hash.hpp"

namespace lull::wait {
namespace {

// The octave of the size and two more bits, so that sizes of one class differ by less than a quarter.
std::uint64_t size_class(std::size_t bytes) {
  if (bytes < 8) return bytes;
  const auto octave = static_cast<unsigned>(std::bit_width(bytes));
  return std::uint64_t{octave} << 2U | (bytes >> (octave - 3) & 3U);
}

std::uint64_t mixed(std::uint64_t key) {
  key = spread(key);
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
  if (!keeps_) return;
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

// The prediction by constants alone is the cost of a wait of the same length on a machine that wakes up as they say. A
// sleep without a timer is late by a wake-up latency, which cannot be observed; it is known from timers.
void wait_history::decided(const timer_decision& how, std::int64_t spin_ns, const wait_counts& went) {
  const std::lock_guard hold(lock_);
  const std::int64_t latency = wake_up_latency();
  const std::int64_t assumed = costs_.assumed_wake_up_latency_ns;
  const model::slack_prediction by_constants{how.known.slack_ns, 0};
  costs_of_waits& sums = how.by_timer ? worth_it_ : too_short_;
  const std::uint64_t woken = went.sleeps - std::min<std::uint64_t>(went.sleeps, how.by_timer ? 1 : 0);
  ++sums.waits;
  sums.seen += static_cast<double>(went.ns_waited - went.ns_asleep) +
               static_cast<double>(woken) * static_cast<double>(latency + costs_.cold_start_ns);
  sums.with_timer.predicted += model::ns_of_wait_with_timer(by_constants, assumed, costs_);
  sums.with_timer.corrected += model::ns_of_wait_with_timer(how.known, latency, costs_);
  sums.without.predicted += model::ns_of_wait_without_timer(by_constants, spin_ns, assumed, costs_);
  sums.without.corrected += model::ns_of_wait_without_timer(how.known, spin_ns, latency, costs_);
}

std::vector<model::choice_account> wait_history::accounts() {
  const std::lock_guard hold(lock_);
  std::vector<model::choice_account> all;
  for (const bool timer : {true, false}) {
    const costs_of_waits& sums = timer ? worth_it_ : too_short_;
    if (sums.waits == 0) continue;
    const auto waits = static_cast<double>(sums.waits);
    model::alternative_account with{.name = "timer",
                                    .predicted_ns = sums.with_timer.predicted / waits,
                                    .corrected_ns = sums.with_timer.corrected / waits};
    model::alternative_account without{.name = "spin, then sleep",
                                       .predicted_ns = sums.without.predicted / waits,
                                       .corrected_ns = sums.without.corrected / waits};
    model::alternative_account& taken = timer ? with : without;
    taken.operations = sums.waits;
    taken.observed_ns = sums.seen / waits;
    all.push_back({.choice = "wait",
                   .where = timer ? "worth a timer" : "too short for one",
                   .per = "wait",
                   .alternatives = {with, without}});
  }
  return all;
}

}  // namespace lull::wait
