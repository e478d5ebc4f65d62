// The cost of recording a call, for lull calibrate and make bench-trace.
#pragma once
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/ticks.hpp"
#include "trace/recording/recorder.hpp"

namespace lull::calibrate {

inline constexpr double events_of_recorded_call = 3;  // its enter, its leave and its message

// This thread's CPU time per call, in nanoseconds, over `calls` calls.
double ns_each(std::int64_t calls, auto&& call) {
  const std::int64_t begin = thread_cpu_ns();
  for (std::int64_t i = 0; i < calls; ++i) call(static_cast<int>(i));
  return static_cast<double>(thread_cpu_ns() - begin) / static_cast<double>(calls);
}

// Records sends and receives alternately, as `rank` of `size` processes, into the folder that LULL_TRACE names; returns
// the cost of each, including its two clock readings and the kernel's work for its files.
inline double ns_of_recorded_call(int rank, int size, std::int64_t calls) {
  using trace::kind;
  auto& mine = trace::recorder::of_process();
  const std::array<std::string_view, 2> names{"MPI_Send", "MPI_Recv"};
  mine.define_regions("mpi", 0, names);
  mine.define_process(rank, size, "mpi", "none");
  std::vector<int> members(static_cast<std::size_t>(size));
  std::iota(members.begin(), members.end(), 0);
  mine.define_communicator(0, members, "MPI_COMM_WORLD");
  auto& log = mine.log();
  return ns_each(calls, [&](int i) {
    const std::uint64_t begin = ticks();
    const bool sends = (i & 1) == 0;
    asm volatile("" ::: "memory");
    log.put_call({.begin = begin,
                  .region = static_cast<std::uint16_t>(sends ? 0 : 1),
                  .peer = (rank + (sends ? 1 : size - 1)) % size,
                  .tag = 7,
                  .bytes = 8,
                  .what = sends ? kind::send : kind::receive});
  });
}

}  // namespace lull::calibrate
