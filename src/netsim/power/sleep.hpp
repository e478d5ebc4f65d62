// Shared by the modes that let links sleep: their keys, and the technologies that give these their values.
#pragma once
#include <span>
#include <vector>

#include "netsim/power/power_mode.hpp"

namespace lull::netsim::sleep {

// Every mode has `hold`, except the one in which links never rest.
[[nodiscard]] key hold();
[[nodiscard]] key sleep_time();
// Keys of deep sleep: wake_deep, quiet_time, refresh_time, deep_share. Keys of fast wake: wake_fast, fast_share.
[[nodiscard]] std::vector<key> deep();
[[nodiscard]] std::vector<key> fast();
// Keys for whether packets wait for wake-ups, and whether links learn.
[[nodiscard]] std::vector<key> waking();

// Energy Efficient Ethernet.
[[nodiscard]] std::span<const power_preset> technologies();

// Fill the parts of a policy from the keys of the same names.
void read_deep(const reader& from, link_policy& into);
void read_fast(const reader& from, link_policy& into);
[[nodiscard]] link_policy read_common(const reader& from);

}  // namespace lull::netsim::sleep
