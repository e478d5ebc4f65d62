// What the processes of a job run: a stream of operations for each rank. A trace is one (trace_program.hpp), a skeleton
// of an application another (skeletons/); who executes them is play() of player.hpp.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "netsim/program/stream.hpp"

namespace lull::netsim {

// What a program may ask of the process that runs it, for what it does next to depend on what has come.
class completions {
 public:
  completions() = default;
  completions(const completions&) = delete;
  completions& operator=(const completions&) = delete;
  // Whether waiting for it would not block.
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

  // One run of it by `rank`, from its begin to its end. The program and `done` outlive the stream. It is asked again
  // where a job repeats.
  [[nodiscard]] virtual stream of(std::uint32_t rank, const completions& done) const = 0;
  // What a reader of the result must know, a line each: "not replayed: MPI_Comm_spawn, 3 times".
  [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }
  // The members of a group by their rank in it; never asked for `everybody`.
  [[nodiscard]] virtual std::span<const std::uint32_t> group(std::uint32_t /*number*/) const { return {}; }
};

}  // namespace lull::netsim
