// What the measuring program can be asked for. Each part prints one line of JSON on stdout: what was observed, unjudged, in the order
// in which it was.
#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace lull::calibrate {

// Between PE 0 and the first PE that it shares memory with, or the first of another node. `receiver`: not times, but what receiving
// takes of the receiver's CPU time. No rounds where there is no such PE. Collective; the line is of PE 0.
struct transfers_wanted {
  std::size_t largest = std::size_t{4} << 20U;
  int rounds = 7;
  bool receiver = false;
  bool between_nodes = false;
};
[[nodiscard]] nlohmann::json transfers(const transfers_wanted& wanted);

// How PE 0 is woken by PE 1, which must share its memory, from waits of some lengths; and by a timer. Collective.
[[nodiscard]] nlohmann::json wake_ups(double seconds_per_length);

// This process's threads copy within a cache, and from and to memory that is in none; one core, and all that it may use.
[[nodiscard]] nlohmann::json memory(int rounds);

// Files that some threads write and sync at a time, below `folder`; nothing stays.
struct storage_wanted {
  std::string folder;
  std::size_t bytes_per_writer = std::size_t{32} << 20U;
  int rounds = 3;
};
[[nodiscard]] nlohmann::json storage(const storage_wanted& wanted);

// What recording takes of a program's CPU time for an event, while it fills a folder; a process can ask once.
[[nodiscard]] nlohmann::json recording(const std::string& folder);

// All PEs wait for so long; when they did, by CLOCK_MONOTONIC of PE 0's host. Collective.
[[nodiscard]] nlohmann::json waiting(double seconds);

}  // namespace lull::calibrate
