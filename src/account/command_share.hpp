// What a command used of a node that it shared with other programs, as one interval of an attribution: a pure function.
//
// Its share of each channel is active energy by CPU time, and idle energy by the CPUs that it could use. If the idle
// power is unknown, all energy is divided by CPU time, and the interval reaches to where all of it is idle.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "account/attribution.hpp"

namespace lull::account {

// What a channel counted on the whole node while the command ran.
struct counted_energy {
  std::string channel;
  meter::domain covers = meter::domain::package;
  meter::kind kind = meter::kind::estimated;
  double joules = 0, low_j = 0, high_j = 0;
  std::optional<double> idle_w;
};

struct use_of_node {
  double seconds = 0;
  double command_cpu_s = 0, others_cpu_s = 0;
  std::int64_t command_cpus = 0, cpus = 0;  // that the command could use, and that the node has
};

// A figure for each of `node`, which count nothing twice. Accelerators are left out, for the CPU time says nothing about
// them: their figures are 0.
[[nodiscard]] std::vector<energy_figure> share_of_command(std::span<const counted_energy> node, const use_of_node& use);

}  // namespace lull::account
