#include "netsim/workload/workload.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "netsim/program/player.hpp"
#include "netsim/simulation.hpp"
#include "netsim/skeletons/skeleton.hpp"

namespace lull::netsim {

// The table of workloads: each is the file of that name in workload/ (neighbours_2d and _3d: neighbours.cpp;
// collective: program/collective_program.cpp; trace: traces/trace_program.cpp; goal: goal/run.cpp), and defines
// NAME_entry(). The skeletons of applications follow.
// clang-format off
#define LULL_WORKLOADS(row) \
  row(uniform) \
  row(permutation) \
  row(neighbours_2d) \
  row(neighbours_3d) \
  row(all_to_all) \
  row(incast) \
  row(hot_spot) \
  row(collective) \
  row(trace) \
  row(goal)
// clang-format on

#define LULL_DECLARE(name) workload_entry name##_entry();
LULL_WORKLOADS(LULL_DECLARE)
#undef LULL_DECLARE

std::span<const workload_entry> all_workloads() {
  static const std::vector<workload_entry> rows = [] {
#define LULL_ENTRY(name) name##_entry(),
    std::vector<workload_entry> all{LULL_WORKLOADS(LULL_ENTRY)};
#undef LULL_ENTRY
    for (const skeleton& s : all_skeletons()) all.push_back(program_entry(s.name, s.meaning, s.keys, make_skeleton));
    return all;
  }();
  return rows;
}

const workload_entry& find_workload(const std::string& name) {
  std::vector<std::string> names;
  for (const workload_entry& w : all_workloads()) {
    if (name == w.name) return w;
    names.emplace_back(w.name);
  }
  throw usage_error("read jobs.pattern", fmt::format("there is no pattern '{}'", name), nearest(name, names));
}

const job& job_setup::job() const { return asked.jobs[index]; }

std::uint32_t job_setup::size() const { return static_cast<std::uint32_t>(job().nodes.size()); }

void job_setup::require(bool holds, const char* key, const std::string& found, const std::string& fix) const {
  if (!holds) position{asked.source, fmt::format("jobs.{}", index)}.mistake(key, found, fix);
}

}  // namespace lull::netsim
