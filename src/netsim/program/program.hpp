// What the processes of a job run: a stream of operations for each rank. Programs are, for example, traces
// (trace_program.hpp) and skeletons of applications (skeletons/); play() in player.hpp executes them.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "netsim/program/stream.hpp"

namespace lull::netsim {

// What a program can query of the process that runs it, so that its next step can depend on what has arrived.
class completions {
 public:
  completions() = default;
  completions(const completions&) = delete;
  completions& operator=(const completions&) = delete;
  // Whether a wait for the request would return at once.
  [[nodiscard]] virtual bool complete(std::uint32_t request) const = 0;

 protected:
  ~completions() = default;
};

class program {
 public:
  program() = default;
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  virtual ~program() = default;

  // One run of the program by `rank`, from begin to end. The program and `done` outlive the stream. If a job repeats,
  // this is called again.
  [[nodiscard]] virtual stream of(std::uint32_t rank, const completions& done) const = 0;
  // What a reader of the result must know, one line each: "not replayed: MPI_Comm_spawn, 3 times".
  [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }
  // The members of a group by their rank in it; never called for `everybody`.
  [[nodiscard]] virtual std::span<const std::uint32_t> group(std::uint32_t /*number*/) const { return {}; }
};

}  // namespace lull::netsim
