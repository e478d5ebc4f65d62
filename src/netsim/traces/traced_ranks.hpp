// The processes of a trace as ranks of a job, and its communicators as groups of ranks.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "netsim/program/operation.hpp"

namespace lull::netsim {

class traced_ranks {
 public:
  // The ranks are the processes that communicate. Throws lull::error, which starts with `asked`, if there are none, or
  // if they belong to several jobs.
  traced_ranks(const trace::definitions& all, const std::string& asked);

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(processes_.size()); }
  // The rank of a process; trace::no_one if it has none.
  [[nodiscard]] std::uint32_t of(std::uint32_t process) const {
    return process < ranks_.size() ? ranks_[process] : trace::no_one;
  }
  // The rank of `peer` in an event of `process`; trace::no_one if it has none.
  [[nodiscard]] std::uint32_t peer(std::uint32_t communicator, std::uint32_t process, std::int32_t peer) const;

  // The group of a communicator: `everybody` if it has all ranks in order, otherwise a separate group. An
  // inter-communicator is one group of both its sides.
  [[nodiscard]] std::uint32_t group_of(std::uint32_t communicator) const { return numbers_[communicator]; }
  [[nodiscard]] std::uint32_t members(std::uint32_t group) const {
    return group == everybody ? count() : static_cast<std::uint32_t>(groups_[group].size());
  }
  [[nodiscard]] std::string name_of(std::uint32_t group) const;
  // By number; that of `everybody` is empty.
  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& groups() const { return groups_; }

 private:
  void find_groups();
  void check_one_job(const std::string& asked) const;

  const trace::definitions& all_;
  std::vector<std::uint32_t> processes_;  // by rank
  std::vector<std::uint32_t> ranks_;      // by process
  std::vector<std::uint32_t> numbers_;    // by communicator
  std::vector<std::vector<std::uint32_t>> groups_;
  std::vector<std::string> names_;  // of groups
};

}  // namespace lull::netsim
