// What modes that let links sleep share: their keys, and the technologies that give these their values.
#pragma once
#include <span>
#include <vector>

#include "netsim/power/power_mode.hpp"

namespace lull::netsim::sleep {

// `hold` is every mode's that lets a link do anything.
[[nodiscard]] key hold();
[[nodiscard]] key sleep_time();
// Of deep sleep: wake_deep, quiet_time, refresh_time, deep_share. Of fast wake: wake_fast, fast_share.
[[nodiscard]] std::vector<key> deep();
[[nodiscard]] std::vector<key> fast();
// Whether packets wait for wake-ups, and whether links learn.
[[nodiscard]] std::vector<key> waking();

// Energy Efficient Ethernet.
[[nodiscard]] std::span<const power_preset> technologies();

// The parts of a policy, out of the keys of the same names.
void read_deep(const reader& from, link_policy& into);
void read_fast(const reader& from, link_policy& into);
[[nodiscard]] link_policy read_common(const reader& from);

}  // namespace lull::netsim::sleep
