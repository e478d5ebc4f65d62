// One rank of a GOAL file while it runs: which of its operations may begin, what its CPUs do, and how its time passes.
//
// An operation waits for its dependencies, then for its CPU, on which operations follow each other in the order in which
// they could begin, and then runs. A receive needs its CPU only for the overhead after its message has arrived. Four
// bytes for each operation say what it still waits for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "netsim/goal/graph.hpp"
#include "netsim/program/executor.hpp"

namespace lull::netsim {

class goal_process {
 public:
  explicit goal_process(const goal_rank& of) : of_(&of) {}

  [[nodiscard]] const goal_operation& at(std::uint32_t number) const { return of_->operations[number]; }

  // A run of all operations begins.
  void begin(picoseconds now);
  // The next operation whose dependencies are satisfied; false if there is none at present.
  [[nodiscard]] bool take_ready(std::uint32_t& number);
  void begun(std::uint32_t number, picoseconds now);
  void ended(std::uint32_t number, picoseconds now);
  [[nodiscard]] bool all_ended() const { return left_ == 0; }
  // Whether a receive has begun and not ended.
  [[nodiscard]] bool receives() const { return receiving_ > 0; }

  // The operation is next for its CPU after those that wait for it already.
  void wait_for_cpu(std::uint32_t number);
  // The next operation of a free CPU, which is busy then; false if none waits, or the CPU is busy.
  [[nodiscard]] bool take_cpu(std::uint8_t cpu, std::uint32_t& number);
  void leave_cpu(std::uint8_t cpu) { cpus_[cpu].busy = false; }

  // Whether an operation has begun and not ended.
  [[nodiscard]] bool runs(std::uint32_t number) const { return waits_for_[number] == running; }
  // A process computes while any of its CPUs does; otherwise it sends while a send has not left the node, and otherwise
  // it waits.
  [[nodiscard]] time_spent spent(picoseconds until) const;

 private:
  static constexpr std::uint32_t over = std::numeric_limits<std::uint32_t>::max(), running = over - 1;
  struct cpu {
    bool busy = false;
    std::size_t first = 0;  // the ones before it have been taken
    std::vector<std::uint32_t> queue;
  };

  void satisfy(std::uint32_t number, goal_edge::when after);
  void pass(picoseconds now);
  std::uint32_t& counter_of(goal_kind what);

  const goal_rank* of_;
  std::vector<std::uint32_t> waits_for_;  // by operation: dependencies that are not satisfied, `running` or `over`
  std::vector<std::uint32_t> ready_;
  std::size_t first_ready_ = 0;  // the ones before it have been taken
  std::vector<cpu> cpus_;
  std::uint32_t left_ = 0;  // operations that have not ended
  std::uint32_t computing_ = 0, sending_ = 0, receiving_ = 0;
  picoseconds since_ = 0;  // of the last change
  time_spent spent_;
};

}  // namespace lull::netsim
