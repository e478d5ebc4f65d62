#include "account/whole_counter.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lull::account {
namespace {

// Beyond this, the tally begins anew: a double holds whole microjoules up to 9 GJ only.
constexpr std::int64_t most_uj_of_a_tally = 1'000'000'000'000;

}  // namespace

bool starts_with_reader(const meter::channel& channel) {
  return channel.integrated || channel.name.starts_with("perf:");
}

whole_counter::whole_counter(meter::channel channel) : channel_(std::move(channel)), tally_(channel_) {}

whole_counter::whole_counter(meter::channel channel, const state& earlier)
    : channel_(std::move(channel)), state_(earlier), tally_(channel_) {
  if (!state_.raw) return;
  start_tally(*state_.raw, state_.time_ns);
  broken_ = starts_with_reader(channel_);
}

void whole_counter::start_tally(std::uint64_t raw, std::int64_t time_ns) {
  tally_ = meter::tally(channel_);
  tally_.add({.value = raw, .error = 0, .time_ns = time_ns});
  before_uj_ = 0;
  missing_uj_ = 0;
  wraps_ = gaps_ = resets_ = 0;
  lower_bound_ = false;
}

whole_counter::counted whole_counter::add(meter::reading reading) {
  if (reading.value && std::exchange(broken_, false)) reading.since = meter::continuity::broken;
  tally_.add(reading);
  const meter::channel_total total = tally_.total();
  const std::int64_t so_far = std::llround(total.joules * 1e6);
  counted result{.uj = std::max<std::int64_t>(so_far - before_uj_, 0), .failed = !reading.value};
  before_uj_ = std::max(so_far, before_uj_);
  state_.uj += result.uj;
  state_.wraps += total.wraps - std::exchange(wraps_, total.wraps);
  state_.gaps += total.gaps - std::exchange(gaps_, total.gaps);
  state_.resets += total.resets - std::exchange(resets_, total.resets);
  if (!reading.value) return result;
  const double missing = tally_.missing_j() * 1e6;
  result.missing_uj = std::max(missing - std::exchange(missing_uj_, missing), 0.0);
  result.lost = (total.lower_bound && !lower_bound_) || result.missing_uj > 0;
  lower_bound_ = total.lower_bound;
  if (result.uj == 0 && state_.raw && !result.lost) return result;  // a counter at rest keeps the time of its last move
  state_.raw = reading.value;
  state_.time_ns = reading.time_ns;
  if (before_uj_ > most_uj_of_a_tally) start_tally(*reading.value, reading.time_ns);
  return result;
}

}  // namespace lull::account
