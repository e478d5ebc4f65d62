// What a link does between packets, and what that saves: accounted from time stamps when the next packet comes, and at
// the end. No event of the queue is about power.
//
// States of one direction of a link after its last bit (IEEE 802.3 Energy Efficient Ethernet, as Georgakoudis et al.
// 2019 model it), with `gap` the time since then:
//
//   deep-sleep     gap <= hold: full power, no delay | < hold + Ts: sleep signalling, full power | then quiet for Tq
//   and
//                  refresh for Tr in turn; low power while quiet. A packet after `hold` waits Tw|DS.
//   fast-wake      gap <= hold: full power, no delay | then low power. A packet after `hold` waits Tw|FW.
//   hybrid         gap <= hold: full power, no delay | fast wake for hybrid_hold, then as deep-sleep from its
//   signalling on. adaptive-rate  gap <= hold: full rate and power | then the slow rate, until raise_backlog bytes wait
//   at the port.
//
// While a link wakes or changes rate it draws full power. Time in low power is what is counted as saved.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "netsim/simulation.hpp"

namespace lull::netsim {

// What a link has rested so far. A port has these members too: they lie in the line of memory that a packet touches
// anyway.
struct link_rest {
  picoseconds deep = 0;
  picoseconds other = 0;  // fast wake, or at the slow rate
  std::uint32_t wakes = 0;
};

// A hold that a link learns from the pauses it sees (after Saravanan and Carpenter, PerfBound, 2018): the shortest one
// with which the wake-ups of the last pauses would have cost no more than `bound` of the time they span. The past does
// not foretell every pause, so it also waits until `bound` of all time so far pays for one more wake-up: that makes it
// a bound.
class learnt_hold {
 public:
  struct limits {
    double bound;
    picoseconds wake;  // the longest delay of a wake-up
  };
  struct pause {
    picoseconds gap;
    picoseconds elapsed;  // since the pause before ended
    picoseconds delay;    // of the wake-up that ended it
  };
  explicit learnt_hold(picoseconds first) : learnt_(first) {}

  // The hold from now on.
  [[nodiscard]] picoseconds hold(const limits& l) const {
    const double unpaid = (static_cast<double>(l.wake) - budget_) / l.bound;
    return std::max(learnt_, static_cast<picoseconds>(std::min(unpaid, 0.25 * static_cast<double>(never))));
  }
  void record(const pause& p, const limits& l);

 private:
  static constexpr int finest = 16;  // bins are octaves from 2^16 ps = 66 ns to 2 s
  static constexpr std::uint16_t review_after = 64;
  std::array<std::uint16_t, 24> pauses_{};
  std::uint16_t seen_ = 0;
  picoseconds span_ = 0;
  picoseconds learnt_;
  double budget_ = 0;  // picoseconds of delay allowed and not used
};

inline void learnt_hold::record(const pause& p, const limits& l) {
  budget_ += l.bound * static_cast<double>(p.elapsed) - static_cast<double>(p.delay);
  const int bin = std::clamp(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(p.gap))) - finest, 0, 23);
  ++pauses_[static_cast<std::size_t>(bin)];
  span_ += p.elapsed;
  if (++seen_ < review_after) return;
  // From the longest pauses down: each bin admitted to sleep adds its wake-ups.
  const double allowed = l.bound * static_cast<double>(span_) / static_cast<double>(l.wake);
  double wakes = 0;
  int first = 24;
  while (first > 0 && wakes + pauses_[static_cast<std::size_t>(first - 1)] <= allowed)
    wakes += pauses_[static_cast<std::size_t>(--first)];
  for (std::uint16_t& older : pauses_) older /= 2;  // they fade
  span_ /= 2;
  seen_ /= 2;
  learnt_ = first == 0 ? 0 : first == 24 ? never / 4 : picoseconds{1} << (first - 1 + finest);
}

class link_power {
 public:
  struct start {
    picoseconds at;  // first bit
    bool slow;       // at the slow rate
  };

  link_power(const power_parameters& given, std::size_t links)
      : given_(given),
        fast_for_(given.mode == power_mode::deep_sleep  ? 0
                  : given.mode == power_mode::fast_wake ? never / 4
                                                        : given.hybrid_hold),
        on_(given.mode != power_mode::active),
        learns_(given.bound > 0) {
    if (given.mode == power_mode::adaptive_rate) {
      slow_since_.assign(links, never);
      lag_.resize(links);
    }
    if (on_ && learns_) {
      learnt_.assign(links, learnt_hold(given.hold));
      reviewed_.resize(links);
    }
  }

  [[nodiscard]] bool on() const { return on_; }
  [[nodiscard]] bool follows_backlog() const { return given_.mode == power_mode::adaptive_rate; }
  [[nodiscard]] std::int64_t raise_backlog() const { return given_.raise_backlog; }
  // After so long idle a port counts as asleep for routing.
  [[nodiscard]] picoseconds awake_for() const { return on_ ? given_.hold : never / 4; }
  [[nodiscard]] picoseconds wake_delay() const {
    return given_.mode == power_mode::deep_sleep      ? given_.wake_deep
           : given_.mode == power_mode::adaptive_rate ? given_.rate_change
                                                      : given_.wake_fast;
  }

  // How long a packet takes at the slow rate which takes `time` at the full one.
  [[nodiscard]] picoseconds slowed(std::size_t link, picoseconds time) {
    const auto slow = static_cast<picoseconds>(static_cast<double>(time) / given_.slow_rate);
    lag_[link] += slow - time;
    return slow;
  }
  // By how much longer a link has been transmitting than at the full rate.
  [[nodiscard]] picoseconds lag(std::size_t link) const { return lag_.empty() ? 0 : lag_[link]; }

  // A packet's turn at `now` on a link idle since `idle_since` <= now, when `waiting` bytes wait, the packet's included
  // (looked at if it follows the backlog).
  template <class Rest>
  [[nodiscard]] start wake(Rest& r, std::size_t link, picoseconds idle_since, picoseconds now, std::int64_t waiting) {
    if (given_.mode == power_mode::adaptive_rate) return change_rate(r, link, idle_since, now, waiting);
    const picoseconds gap = now - idle_since;
    const picoseconds delay = rest(r, gap, hold_of(link));
    if (learns_ && gap > 0) {
      learnt_[link].record({gap, now - reviewed_[link], delay}, limits());
      reviewed_[link] = now;
    }
    return {given_.wake_delays ? now + delay : now, false};
  }

  // The pause that lasts when the run ends.
  template <class Rest>
  void close(Rest& r, std::size_t link, picoseconds idle_since, picoseconds end) {
    if (!on_) return;
    if (given_.mode == power_mode::adaptive_rate) {  // it may be slow although it is sending
      picoseconds& slow_since = slow_since_[link];
      if (slow_since == never && end - idle_since > given_.hold) slow_since = idle_since + given_.hold;
      if (slow_since < end) r.other += end - slow_since;
      return;
    }
    if (end <= idle_since) return;
    const std::uint32_t wakes = r.wakes;
    rest(r, end - idle_since, hold_of(link));
    r.wakes = wakes;  // nothing woke it
  }

 private:
  // Adds the time in low power of a pause; answers the delay of the wake-up that ends it, 0 where none is due. Whether
  // a pause is longer than hold cannot be predicted, so nothing here branches on it.
  template <class Rest>
  picoseconds rest(Rest& r, picoseconds gap, picoseconds hold) const {
    const picoseconds idle = gap - hold;  // since low power was allowed
    r.wakes += idle > 0 ? 1 : 0;
    r.other += std::clamp(idle, picoseconds{0}, fast_for_);
    r.deep += quiet(idle - fast_for_ - given_.sleep_time);
    const picoseconds delay = idle > fast_for_ ? given_.wake_deep : given_.wake_fast;
    return idle > 0 ? delay : 0;
  }

  // Of a time since quiet began, the part that was not refreshing.
  [[nodiscard]] picoseconds quiet(picoseconds time) const {
    if (time <= given_.quiet_time) [[likely]]
      return std::max(time, picoseconds{0});
    const picoseconds period = given_.quiet_time + given_.refresh_time;
    return time / period * given_.quiet_time + std::min(time % period, given_.quiet_time);
  }

  template <class Rest>
  start change_rate(Rest& r, std::size_t link, picoseconds idle_since, picoseconds now, std::int64_t waiting) {
    picoseconds& slow_since = slow_since_[link];
    if (slow_since == never) {
      if (now - idle_since <= given_.hold) return {now, false};
      slow_since = idle_since + given_.hold;
    }
    if (waiting < given_.raise_backlog) return {now, true};
    r.other += now - slow_since;
    slow_since = never;
    ++r.wakes;
    return {given_.wake_delays ? now + given_.rate_change : now, false};
  }

  [[nodiscard]] learnt_hold::limits limits() const {
    return {given_.bound, given_.mode == power_mode::fast_wake ? given_.wake_fast : given_.wake_deep};
  }
  [[nodiscard]] picoseconds hold_of(std::size_t link) const {
    return learns_ ? learnt_[link].hold(limits()) : given_.hold;
  }

  power_parameters given_;
  picoseconds fast_for_;  // the longest time in fast wake: none in deep-sleep, any in fast-wake
  bool on_;
  std::vector<picoseconds> slow_since_;  // adaptive-rate: never while at full rate
  std::vector<picoseconds> lag_;         // adaptive-rate
  bool learns_;
  std::vector<learnt_hold> learnt_;
  std::vector<picoseconds> reviewed_;
};

}  // namespace lull::netsim
