// The cost of recording a call, and a run to convert: recording CALLS PROCESSES, with LULL_TRACE set. Each of PROCESSES
// (forked before anything is recorded) records CALLS sends or receives with their two readings of the clock; then the
// same loop runs with only the readings. Prints a line for each: nanoseconds of CPU time per call, including the
// kernel's work for it, and for the readings alone.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "calibrate/recorded_calls.hpp"

namespace {

void record(int rank, int size, std::int64_t calls) {
  const double recorded = lull::calibrate::ns_of_recorded_call(rank, size, calls);
  volatile std::uint64_t sink = 0;
  const double clocks = lull::calibrate::ns_each(calls, [&](int) { sink = lull::ticks() - lull::ticks(); });
  lull::trace::recorder::of_process().close();
  std::printf("%.3f %.3f\n", recorded, clocks);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const std::int64_t calls = std::atoll(words[1]);
  const int size = std::atoi(words[2]);
  for (int rank = 0; rank < size; ++rank) {
    if (size == 1) {
      record(rank, size, calls);
    } else if (fork() == 0) {
      record(rank, size, calls);
      return 0;
    }
  }
  while (wait(nullptr) > 0) {
  }
  return 0;
}
