// Power modes: what a link does between packets. Each mode is one file in power/, which declares its keys and what they
// mean for a link.
//
// A mode is data, not code, for the engine's loop: it fills in a link_policy, which link_power.hpp follows. A policy
// can let a link do two things, sleep or change its rate; a third would need a branch in link_power.hpp.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "netsim/keys/key.hpp"
#include "netsim/routing.hpp"

namespace lull::netsim {

inline constexpr picoseconds any_time = never / 4;  // longer than any pause, yet small enough to be added to

// The longest time that a file can set; 64 bits of picoseconds hold eight times as much.
inline constexpr double longest_time = 1e18;
inline constexpr double largest_buffer = (1 << 30) - 1;  // bytes

// What one direction of a link does when it is idle, and the power that it then draws as a share of its active power.
struct link_policy {
  enum class behaviour : std::uint8_t { stays_active, sleeps, changes_rate } does = behaviour::stays_active;
  picoseconds hold = any_time;  // how long it stays idle at full power and rate first
  bool wake_delays = true;      // false: accounts for power, but delays no packet
  picoseconds usual_wake = 0;   // the delay that routing assumes for a resting port
  picoseconds longest_wake = 0;

  // sleeps: in fast wake for `fast_for`; then signals for `sleep_time`, at full power; then alternates between quiet
  // for `quiet_time` and refreshing for `refresh_time`
  picoseconds fast_for = 0;
  picoseconds sleep_time = 0;
  picoseconds quiet_time = 1;
  picoseconds refresh_time = 0;
  picoseconds wake_deep = 0;
  picoseconds wake_fast = 0;
  double deep_share = 1;
  double fast_share = 1;
  double bound = 0;  // if above 0: each link learns its own hold, so that wake-ups delay it by at most this share of
                     // time

  // changes_rate: falls to `slow_rate` of its bandwidth; returns, in `longest_wake`, when `raise_backlog` bytes wait in
  // its output buffer (for a node's link, in the node)
  double slow_rate = 1;
  double slow_share = 1;
  std::int64_t raise_backlog = 0;

  bool operator==(const link_policy&) const = default;
};

// A named link technology: defaults for keys of [power].
struct power_preset {
  const char* name;
  table values;
  std::vector<std::string> must_be_given = {};  // keys that have no generally valid value
};

// A row of the table of power modes.
struct power_mode {
  const char* name;
  const char* meaning;
  std::vector<key> keys;
  std::span<const power_preset> presets;  // the presets that the mode can use; the first gives the defaults
  link_policy (*policy)(const reader&);
};

[[nodiscard]] std::span<const power_mode> all_power_modes();

// Throws lull::usage_error that suggests the nearest known mode.
[[nodiscard]] const power_mode& find_power_mode(const std::string& name);

}  // namespace lull::netsim
