// The jobs of a simulation on their nodes: forwards what the network requests from a node, or reports to it, to the
// process that runs there. Threads may call for different nodes at the same time if no job is a program.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "netsim/workload/workload.hpp"

namespace lull::netsim {

class traffic {
 public:
  // Throws lull::usage_error if a job contradicts itself, the other jobs or the number of nodes.
  traffic(const simulation& asked, std::uint32_t nodes);

  [[nodiscard]] std::uint64_t expected() const;  // messages in total; 0: unknown
  // The number of processes that still wait.
  [[nodiscard]] std::uint64_t waiting() const;
  // Whether every program has ended a run. Cheap: called in every window.
  [[nodiscard]] bool all_have_run() {
    while (have_run_ < jobs_.size() && jobs_[have_run_]->has_run()) ++have_run_;
    return have_run_ == jobs_.size();
  }
  // Names, in words for one line, which processes of a deadlocked program wait for what; empty if there is none.
  [[nodiscard]] std::string deadlock() const;
  // Names some of them, in words for one line; empty if they cannot be named.
  [[nodiscard]] std::string who_waits() const;
  // Adds to the result what the workload of a job knows of it.
  void add_to(job_result& result, std::uint32_t job, picoseconds end) const { jobs_[job]->add_to(result, end); }

  void prefetch(std::uint32_t node) const { __builtin_prefetch(processes_[node]); }

  // See class process.
  [[nodiscard]] picoseconds next_at(std::uint32_t node) const { return processes_[node]->next_at(); }
  [[nodiscard]] message take(std::uint32_t node) { return processes_[node]->take(); }
  [[nodiscard]] std::int64_t waiting_bytes(std::uint32_t node, picoseconds now, std::int64_t enough) const {
    return processes_[node]->waiting_bytes(now, enough);
  }
  [[nodiscard]] picoseconds first_computed(std::uint32_t node) const { return processes_[node]->first_computed(); }
  [[nodiscard]] picoseconds computed(std::uint32_t node, picoseconds now) { return processes_[node]->computed(now); }
  [[nodiscard]] picoseconds sent(std::uint32_t node, picoseconds now) { return processes_[node]->sent(now); }
  void crossed(const message& m, std::span<const std::uint32_t> links) { processes_[m.to]->crossed(m.label, links); }
  [[nodiscard]] picoseconds arrived(const message& m, picoseconds now) {
    return processes_[m.to]->arrived(m.label, now);
  }

 private:
  std::vector<std::unique_ptr<workload>> jobs_;
  std::vector<std::string> names_;   // of the jobs
  std::vector<process*> processes_;  // by node
  std::size_t have_run_ = 0;         // of jobs_, from the first on
  std::unique_ptr<process> idle_;    // for nodes without a job
};

}  // namespace lull::netsim
