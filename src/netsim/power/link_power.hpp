// What a link does between packets, and what that saves. Both are computed from time stamps when the next packet comes,
// and at the end of the run; power adds no events to the queue.
//
// The state of a link at a time `gap` after its last bit depends on its policy (power_mode.hpp; IEEE 802.3 Energy
// Efficient Ethernet as modelled by Georgakoudis et al. 2019):
//
//   stays_active   full power, no delay
//   sleeps         gap <= hold: full power, no delay; then fast wake for fast_for: low power, a packet waits wake_fast;
//                  then signalling for sleep_time: full power; then alternately quiet for quiet_time (low power) and
//                  refreshing for refresh_time; from the signalling on, a packet waits wake_deep
//   changes_rate   gap <= hold: full rate and power; then the slow rate, until raise_backlog bytes wait at the port
//
// A link that wakes or changes its rate draws full power. The time in low power counts as saved.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "netsim/power/learnt_hold.hpp"
#include "netsim/power/power_mode.hpp"

namespace lull::netsim {

// How much a link has rested so far. A port has the same members, because a packet touches its cache line anyway.
struct link_rest {
  picoseconds deep = 0;
  picoseconds other = 0;  // in fast wake, or at the slow rate
  std::uint32_t wakes = 0;
};

class link_power {
 public:
  struct start {
    picoseconds at;  // first bit
    bool slow;       // at the slow rate
  };

  // `watched`: the caller counts pauses, so links are on even if they stay active.
  link_power(const link_policy& policy, std::size_t links, bool watched = false)
      : policy_(policy),
        on_(policy.does != link_policy::behaviour::stays_active || watched),
        watched_(watched),
        changes_rate_(policy.does == link_policy::behaviour::changes_rate),
        learns_(policy.bound > 0) {
    if (changes_rate_) {
      slow_since_.assign(links, never);
      lag_.resize(links);
    }
    if (on_ && learns_) {
      learnt_.assign(links, learnt_hold(policy.hold));
      reviewed_.resize(links);
    }
  }

  [[nodiscard]] const link_policy& policy() const { return policy_; }
  // Whether anything happens between packets.
  [[nodiscard]] bool on() const { return on_; }
  [[nodiscard]] bool watched() const { return watched_; }
  [[nodiscard]] bool follows_backlog() const { return changes_rate_; }
  [[nodiscard]] std::int64_t raise_backlog() const { return policy_.raise_backlog; }
  // For routing, a port counts as asleep after it has been idle this long.
  [[nodiscard]] picoseconds awake_for() const { return policy_.hold; }
  [[nodiscard]] picoseconds wake_delay() const { return policy_.usual_wake; }

  // The time at the slow rate of a packet that takes `time` at the full one.
  [[nodiscard]] picoseconds slowed(std::size_t link, picoseconds time) {
    const auto slow = static_cast<picoseconds>(static_cast<double>(time) / policy_.slow_rate);
    lag_[link] += slow - time;
    return slow;
  }
  // How much longer a link has been transmitting than it would have at the full rate.
  [[nodiscard]] picoseconds lag(std::size_t link) const { return lag_.empty() ? 0 : lag_[link]; }

  // A packet may use, from `now`, a link that has been idle since `idle_since` <= now. `waiting` bytes wait, including
  // the packet (used only if the policy follows the backlog).
  template <class Rest>
  [[nodiscard]] start wake(Rest& r, std::size_t link, picoseconds idle_since, picoseconds now, std::int64_t waiting) {
    if (changes_rate_) return change_rate(r, link, idle_since, now, waiting);
    const picoseconds gap = now - idle_since;
    const picoseconds delay = rest(r, gap, hold_of(link));
    if (learns_ && gap > 0) {
      learnt_[link].record({gap, now - reviewed_[link], delay}, limits());
      reviewed_[link] = now;
    }
    return {policy_.wake_delays ? now + delay : now, false};
  }

  // Accounts for the pause at the end of the run.
  template <class Rest>
  void close(Rest& r, std::size_t link, picoseconds idle_since, picoseconds end) {
    if (!on_) return;
    if (changes_rate_) {  // a link may be slow while it is sending
      picoseconds& slow_since = slow_since_[link];
      if (slow_since == never && end - idle_since > policy_.hold) slow_since = idle_since + policy_.hold;
      if (slow_since < end) r.other += end - slow_since;
      return;
    }
    if (end <= idle_since) return;
    const std::uint32_t wakes = r.wakes;
    rest(r, end - idle_since, hold_of(link));
    r.wakes = wakes;  // no packet has woken it
  }

 private:
  // Adds the time in low power of a pause; returns the delay of the wake-up that ends it, 0 if there is none. Whether a
  // pause is longer than hold cannot be predicted, so the code does not branch on it.
  template <class Rest>
  picoseconds rest(Rest& r, picoseconds gap, picoseconds hold) const {
    const picoseconds idle = gap - hold;  // since low power was allowed
    r.wakes += idle > 0 ? 1 : 0;
    r.other += std::clamp(idle, picoseconds{0}, policy_.fast_for);
    r.deep += quiet(idle - policy_.fast_for - policy_.sleep_time);
    const picoseconds delay = idle > policy_.fast_for ? policy_.wake_deep : policy_.wake_fast;
    return idle > 0 ? delay : 0;
  }

  // The part of the time since quiet began that was not spent refreshing.
  [[nodiscard]] picoseconds quiet(picoseconds time) const {
    if (time <= policy_.quiet_time) [[likely]]
      return std::max(time, picoseconds{0});
    const picoseconds period = policy_.quiet_time + policy_.refresh_time;
    return time / period * policy_.quiet_time + std::min(time % period, policy_.quiet_time);
  }

  template <class Rest>
  start change_rate(Rest& r, std::size_t link, picoseconds idle_since, picoseconds now, std::int64_t waiting) {
    picoseconds& slow_since = slow_since_[link];
    if (slow_since == never) {
      if (now - idle_since <= policy_.hold) return {now, false};
      slow_since = idle_since + policy_.hold;
    }
    if (waiting < policy_.raise_backlog) return {now, true};
    r.other += now - slow_since;
    slow_since = never;
    ++r.wakes;
    return {policy_.wake_delays ? now + policy_.longest_wake : now, false};
  }

  [[nodiscard]] learnt_hold::limits limits() const { return {policy_.bound, policy_.longest_wake}; }
  [[nodiscard]] picoseconds hold_of(std::size_t link) const {
    return learns_ ? learnt_[link].hold(limits()) : policy_.hold;
  }

  link_policy policy_;
  bool on_, watched_, changes_rate_;
  std::vector<picoseconds> slow_since_;  // adaptive-rate: never if at full rate
  std::vector<picoseconds> lag_;         // adaptive-rate
  bool learns_;
  std::vector<learnt_hold> learnt_;
  std::vector<picoseconds> reviewed_;
};

}  // namespace lull::netsim
