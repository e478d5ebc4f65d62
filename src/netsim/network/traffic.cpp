#include "netsim/network/traffic.hpp"

#include <fmt/format.h>

#include "netsim/simulation.hpp"

namespace lull::netsim {

traffic::traffic(const simulation& asked, std::uint32_t nodes) : idle_(std::make_unique<process>()) {
  processes_.assign(nodes, idle_.get());
  for (std::uint32_t index = 0; index < asked.jobs.size(); ++index) {
    const job_setup setup{asked, index};
    const job& j = setup.job();
    setup.require(setup.size() >= 2, "processes", fmt::format("is {}", setup.size()), "it must be at least 2");
    setup.require(j.message > 0 && j.message < std::int64_t{1} << 31, "message", fmt::format("is {} B", j.message),
                  "it must be 1 B to 2147483647 B");
    jobs_.push_back(j.make ? j.make(setup) : find_workload(j.pattern).make(setup));
    names_.push_back(j.name);
    for (std::uint32_t rank = 0; rank < setup.size(); ++rank) {
      const std::uint32_t node = j.nodes[rank];
      setup.require(node < nodes, "mapping", fmt::format("names node {}", node),
                    fmt::format("the network has nodes 0 to {}", nodes - 1));
      process& here = jobs_.back()->of(rank);
      setup.require(processes_[node] == idle_.get() || processes_[node] == &here, "mapping",
                    fmt::format("names node {}, which another process has", node), "name a free one");
      processes_[node] = &here;
    }
  }
}

std::uint64_t traffic::expected() const {
  std::uint64_t sum = 0;
  for (const auto& job : jobs_) {
    const auto expected = job->expected();
    if (!expected) return 0;
    sum += *expected;
  }
  return sum;
}

std::string traffic::who_waits() const {
  std::string text;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const std::string of_job = jobs_[i]->who_waits();
    if (!of_job.empty()) text += fmt::format("{}in {}, {}", text.empty() ? "" : "; ", names_[i], of_job);
  }
  return text;
}

std::string traffic::deadlock() const {
  for (std::size_t i = 0; i < jobs_.size(); ++i)
    if (jobs_[i]->at_a_stand()) return fmt::format("in {}, {}", names_[i], jobs_[i]->who_waits());
  return "";
}

std::uint64_t traffic::waiting() const {
  std::uint64_t sum = 0;
  for (const auto& job : jobs_) sum += job->waiting();
  return sum;
}

}  // namespace lull::netsim
