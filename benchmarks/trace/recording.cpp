// What recording costs a call, and a run to convert: recording CALLS PROCESSES, with LULL_TRACE set. Each of PROCESSES
// (forked before anything is recorded) records CALLS sends or receives with their two readings of the clock, then the
// same loop runs with the readings only. Prints a line for each: nanoseconds of CPU time of a call, what the
// kernel does for it included, and of the readings alone.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/clock.hpp"
#include "trace/recorder.hpp"

namespace {

double ns_each(std::int64_t calls, auto&& call) {
  const std::int64_t begin = lull::thread_cpu_ns();
  for (std::int64_t i = 0; i < calls; ++i) call(static_cast<int>(i));
  return static_cast<double>(lull::thread_cpu_ns() - begin) / static_cast<double>(calls);
}

void record(int rank, int size, std::int64_t calls) {
  using lull::trace::kind;
  auto& mine = lull::trace::recorder::of_process();
  const std::array<std::string_view, 2> names{"MPI_Send", "MPI_Recv"};
  mine.define_regions("mpi", 0, names);
  mine.define_process(rank, size, "mpi", "none");
  std::array<int, 1024> members{};
  for (int i = 0; i < size; ++i) members[static_cast<std::size_t>(i)] = i;
  mine.define_communicator(0, std::span(members).first(static_cast<std::size_t>(size)), "MPI_COMM_WORLD");
  auto& log = mine.log();
  const double recorded = ns_each(calls, [&](int i) {
    const std::uint64_t begin = lull::ticks();
    const bool sends = (i & 1) == 0;
    asm volatile("" ::: "memory");
    log.put_call({.begin = begin,
                  .region = static_cast<std::uint16_t>(sends ? 0 : 1),
                  .peer = (rank + (sends ? 1 : size - 1)) % size,
                  .tag = 7,
                  .bytes = 8,
                  .what = sends ? kind::send : kind::receive});
  });
  volatile std::uint64_t sink = 0;
  const double clocks = ns_each(calls, [&](int) { sink = lull::ticks() - lull::ticks(); });
  mine.close();
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
