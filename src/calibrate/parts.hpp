// The parts of the measuring program. Each prints one line of JSON on stdout: the observations, unfiltered, in their
// original order.
#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace lull::calibrate {

// Transfers between PE 0 and the first PE with which it shares memory, or the first on another node. `receiver`:
// measures the receiver's CPU time instead of durations. No rounds if there is no such PE. Collective; PE 0 prints the
// line.
struct transfers_wanted {
  std::size_t largest = std::size_t{4} << 20U;
  int rounds = 7;
  bool receiver = false;
  bool between_nodes = false;
};
[[nodiscard]] nlohmann::json transfers(const transfers_wanted& wanted);

// How PE 1, which must share memory with PE 0, wakes PE 0 from waits of some lengths; and timers. Collective.
[[nodiscard]] nlohmann::json wake_ups(double seconds_per_length);

// Copies by this process's threads within a cache, and between uncached memory; with one core, and with all allowed
// ones.
[[nodiscard]] nlohmann::json memory(int rounds);

// Files that some threads write and sync at the same time, below `folder`; none remains.
struct storage_wanted {
  std::string folder;
  std::size_t bytes_per_writer = std::size_t{32} << 20U;
  int rounds = 3;
};
[[nodiscard]] nlohmann::json storage(const storage_wanted& wanted);

// The CPU time of recording one event, while a folder is filled; call once per process.
[[nodiscard]] nlohmann::json recording(const std::string& folder);

// All PEs wait for this time; returns when they did, by CLOCK_MONOTONIC of PE 0's host. Collective.
[[nodiscard]] nlohmann::json waiting(double seconds);

}  // namespace lull::calibrate
