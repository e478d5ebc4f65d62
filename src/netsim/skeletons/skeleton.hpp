// Skeletons of applications: what each of their processes sends, receives and computes, as a program whose sizes depend
// on the application's own parameters. Each is one file in this folder, whose header names the source of its numbers
// and lists its assumptions.
//
// A step is one step of the application's main loop. By default its computing time is that of one process out of 256;
// it scales with the part of the problem that a process has.
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "netsim/program/program.hpp"
#include "netsim/workload/process_grid.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {

struct skeleton {
  const char* name;
  const char* meaning;
  std::vector<key> keys;
  std::unique_ptr<program> (*make)(const job_setup& setup, const reader& from);
};

[[nodiscard]] std::span<const skeleton> all_skeletons();

// The skeleton that the job's pattern names.
[[nodiscard]] std::unique_ptr<program> make_skeleton(const job_setup& setup);

// The keys that several skeletons have; their defaults differ.
[[nodiscard]] key steps_key();
[[nodiscard]] key step_time_key();
[[nodiscard]] key zones_key();

[[nodiscard]] std::uint32_t steps_of(const reader& from, std::uint32_t usual);
[[nodiscard]] picoseconds step_time_of(const reader& from, picoseconds usual);
// A number of cells, points or zones along x, y, z; at least as many as there are processes along each.
[[nodiscard]] triple extent_of(const job_setup& setup, const reader& from, const char* name, const triple& usual,
                               const triple& sides);

[[nodiscard]] inline std::uint32_t number_of(const reader& from, const char* name) {
  return static_cast<std::uint32_t>(from.whole(name));
}

inline constexpr picoseconds microseconds = 1'000'000;
inline constexpr picoseconds milliseconds = 1'000 * microseconds;

[[nodiscard]] inline picoseconds share_of(picoseconds all, double share) {
  return std::llround(static_cast<double>(all) * share);
}

[[nodiscard]] inline double volume(const triple& of) {
  return static_cast<double>(of[0]) * static_cast<double>(of[1]) * static_cast<double>(of[2]);
}

}  // namespace lull::netsim
