// Which units of a program a sampled simulation executes, and how long they took.
//
// A program announces units (operation::kind::unit), such as the iterations of a solver: at the begin of a unit no process
// has a request under way, and all processes have the same sequence of kinds of units in a run. Of each kind, some
// units of a run are measured: spread evenly, from a random first one. The unit before a measured one leads to it: it is
// executed, since its end determines how the measured one begins. All others are left out. In executed units, computing
// that is longer than a limit is cut; the time of the unit includes what was cut. Only runs that all processes have ended
// count.
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

#include "netsim/program/program.hpp"
#include "netsim/simulation.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {

class sampled_units {
 public:
  enum class role : std::uint8_t { left_out, leads, measured };

  // Throws lull::usage_error if the program has no units.
  sampled_units(const job_setup& setup, const program& of);

  [[nodiscard]] picoseconds cut() const { return cut_; }
  // What becomes of the unit at `place` in a run. `kind` must be that of the first process.
  [[nodiscard]] role role_of(std::uint32_t run, std::uint32_t place, std::uint32_t kind);
  // The account to which links book what a unit costs (losses.hpp).
  [[nodiscard]] std::uint32_t account_of(std::uint32_t run, std::uint32_t kind) const;
  // A process has ended a unit, of whose computing `spared` was cut, and in which it was sending for `sending`.
  void ended(std::uint32_t run, std::uint32_t place, picoseconds now, picoseconds spared, picoseconds sending);
  // A process has ended a run, in which it computes for `computing`, also in units that were left out.
  void run_ended(picoseconds computing) {
    computing_ += static_cast<double>(computing);
    ++runs_ended_;
  }

  // Of a run: its kinds of units, the mean time of each, and the computing and sending of all processes.
  [[nodiscard]] job_estimate estimate() const;

 private:
  struct unit {
    std::uint32_t left;  // processes that have yet to end it
    role is;
    picoseconds end = 0;  // of the last process
    picoseconds spared = 0;
    picoseconds sending = 0;  // of all processes
  };
  using run = std::vector<unit>;
  struct kind_of_unit {
    std::uint32_t name;                 // as the program says it
    std::vector<std::uint32_t> places;  // in a run
    std::uint64_t measured = 0;
    double sum = 0, squares = 0;  // of the measured times
    double sending = 0;           // in the measured ones
  };
  [[nodiscard]] run& run_at(std::uint32_t number);
  [[nodiscard]] run planned();
  void measure(const run& ended);

  const job_setup setup_;
  const std::int64_t wanted_;  // of each kind in a run
  const picoseconds cut_;
  generator random_;
  std::vector<kind_of_unit> kinds_;
  std::vector<std::uint32_t> kind_at_;  // by place: number in kinds_
  std::deque<run> runs_;                // that some process has yet to end
  std::uint32_t first_run_ = 0;
  picoseconds begin_;  // of the first of runs_
  double computing_ = 0;
  std::uint64_t runs_ended_ = 0;  // by a process
};

}  // namespace lull::netsim
