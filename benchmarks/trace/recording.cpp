// The cost of recording a call, and a run to convert: recording CALLS PROCESSES [PATTERN], with LULL_TRACE set. Each of
// PROCESSES (forked before anything is recorded) records CALLS sends or receives with their two readings of the clock;
// then the same loop runs with only the readings. Prints a line for each: nanoseconds of CPU time per call, including
// the kernel's work for it, and for the readings alone. A pattern is what comes instead of sends and receives: halo,
// chaos, cg or stencil; of the last two CALLS is the number of iterations. The pattern memory records nothing, folds CALLS iterations
// of cg, and prints the KiB that a thread needs for that.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "calibrate/recorded_calls.hpp"
#include "trace/folding/folded_file.hpp"
#include "trace/folding/folder.hpp"

namespace {

using lull::trace::kind;

// Calls of one thread, with their clocks, in a log or wherever `put` takes them.
template <typename Put>
class caller {
 public:
  explicit caller(Put put, int rank = 0, int size = 1) : put_(put), rank_(rank), size_(size) {}

  void call(kind what, std::uint16_t function, int peer = 0, int tag = 0, std::uint64_t bytes = 0) {
    const std::uint64_t begin = lull::ticks();
    asm volatile("" ::: "memory");
    put_({.begin = begin,
          .duration = static_cast<std::uint32_t>(lull::ticks_since(begin)),
          .region = function,
          .peer = peer,
          .tag = tag,
          .bytes = bytes & 0xffffffff,
          .what = what});
    ++calls;
  }
  void more(kind what, std::uint64_t handle, int peer, int tag, std::uint64_t bytes) {
    put_({.begin = handle, .peer = peer, .tag = tag, .bytes = bytes & 0xffffffff, .what = what});
  }

  // Four receives and four sends are posted and completed; a reduction follows.
  void halo_step() {
    constexpr int neighbours = 4;
    for (int n = 0; n < 2 * neighbours; ++n) {
      call(kind::call, n < neighbours ? 2 : 3);
      more(n < neighbours ? kind::posted_receive : kind::posted_send, handle_of(n), n % neighbours, 7, 4096);
    }
    call(kind::call, 4);
    for (int n = 0; n < 2 * neighbours; ++n) more(kind::completed, handle_of(n), n % neighbours, 7, 4096);
    call(kind::collective, 5, -1, 0, 8);
  }
  // 16 functions with 8 partners, in an order and with sizes that follow no pattern.
  void chaos_step() {
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    call(kind::send, static_cast<std::uint16_t>(random_ >> 60), static_cast<int>(random_ >> 57 & 7), 7, random_ >> 40);
  }
  // Exchanges by halves in 25 inner iterations, and two reductions. A process that is alone records those of 8.
  void cg_step() {
    const int processes = size_ == 1 ? 8 : size_;
    for (int inner = 0; inner < 25; ++inner) {
      for (int bit = 1; bit < processes; bit *= 2) {
        const int partner = rank_ ^ bit;
        call(kind::call, 2);
        more(kind::posted_receive, handle_of(0), partner, 0, 56000);
        call(kind::send, 0, partner, 0, 56000);
        call(kind::call, 4);
        more(kind::completed, handle_of(0), partner, 0, 56000);
      }
      call(kind::send, 0, rank_ ^ 2, 0, 8);
    }
    call(kind::collective, 5, -1, 0, 8);
    call(kind::collective, 5, -1, 0, 16);
  }

  // Messages to all neighbours in a square of processes, also diagonal ones; its borders are open.
  void stencil_step() {
    int width = 1;
    while (width * width < size_) ++width;
    std::vector<int> neighbours;
    for (int y = rank_ / width - 1; y <= rank_ / width + 1; ++y)
      for (int x = rank_ % width - 1; x <= rank_ % width + 1; ++x)
        if (x >= 0 && y >= 0 && x < width && y < width && y * width + x != rank_) neighbours.push_back(y * width + x);
    const int count = static_cast<int>(neighbours.size());
    const auto peer = [&](int n) { return neighbours[static_cast<std::size_t>(n % count)]; };
    for (int n = 0; n < 2 * count; ++n) {
      call(kind::call, n < count ? 2 : 3);
      more(n < count ? kind::posted_receive : kind::posted_send, handle_of(n), peer(n), 7, 4096);
    }
    call(kind::call, 4);
    for (int n = 0; n < 2 * count; ++n) more(kind::completed, handle_of(n), peer(n), 7, 4096);
    call(kind::collective, 5, -1, 0, 8);
  }

  std::int64_t calls = 0;

 private:
  static std::uint64_t handle_of(int n) { return 0x7f0000001000 + 0x180 * static_cast<std::uint64_t>(n); }
  Put put_;
  int rank_, size_;
  std::uint64_t random_ = 1;
};

// One thread records CALLS calls, or iterations of cg or stencil, as `rank` of `size` processes; returns nanoseconds of
// its CPU time for each call.
double ns_of_pattern(const std::string& pattern, int rank, int size, std::int64_t calls) {
  auto& mine = lull::trace::recorder::of_process();
  const std::array<std::string_view, 6> names{"MPI_Send",  "MPI_Recv",    "MPI_Irecv",
                                              "MPI_Isend", "MPI_Waitall", "MPI_Allreduce"};
  mine.define_regions("mpi", 0, names);
  mine.define_process(rank, size, "mpi", "none");
  std::vector<int> members(static_cast<std::size_t>(size));
  std::iota(members.begin(), members.end(), 0);
  mine.define_communicator(0, members, "MPI_COMM_WORLD");
  auto& log = mine.log();
  caller program([&log](const lull::trace::record& r) { log.put(r); }, rank, size);
  const bool counts_steps = pattern == "cg" || pattern == "stencil";
  const std::int64_t begin = lull::thread_cpu_ns();
  for (std::int64_t step = 0; (counts_steps ? step : program.calls) < calls; ++step) {
    if (pattern == "halo") program.halo_step();
    if (pattern == "chaos") program.chaos_step();
    if (pattern == "cg") program.cg_step();
    if (pattern == "stencil") program.stencil_step();
  }
  return static_cast<double>(lull::thread_cpu_ns() - begin) / static_cast<double>(program.calls);
}

// KiB of folding the calls of a thread, beside the window in which raw records lie, too.
std::size_t memory_kib(std::int64_t steps) {
  lull::trace::folding::folder folder;
  std::vector<lull::trace::record> window;
  caller program([&](const lull::trace::record& r) {
    window.push_back(r);
    if (window.size() < 2048) return;
    const auto taken = static_cast<std::ptrdiff_t>(folder.fold(window, false));
    folder.clear_output();
    window.erase(window.begin(), window.begin() + taken);
  });
  for (std::int64_t step = 0; step < steps; ++step) program.cg_step();
  return (folder.memory() + sizeof(lull::trace::folding::running_state)) >> 10;
}

void record(const std::string& pattern, int rank, int size, std::int64_t calls) {
  if (pattern != "ring") {
    const double ns = ns_of_pattern(pattern, rank, size, calls);
    lull::trace::recorder::of_process().close();
    std::printf("%.3f\n", ns);
    return;
  }
  const double recorded = lull::calibrate::ns_of_recorded_call(rank, size, calls);
  volatile std::uint64_t sink = 0;
  const double clocks = lull::calibrate::ns_each(calls, [&](int) { sink = lull::ticks() - lull::ticks(); });
  lull::trace::recorder::of_process().close();
  std::printf("%.3f %.3f\n", recorded, clocks);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3 && count != 4) return 2;
  const std::int64_t calls = std::atoll(words[1]);
  const int size = std::atoi(words[2]);
  const std::string pattern = count == 4 ? words[3] : "ring";
  if (pattern == "memory") {
    std::printf("%zu\n", memory_kib(calls));
    return 0;
  }
  for (int rank = 0; rank < size; ++rank) {
    if (size == 1) {
      record(pattern, rank, size, calls);
    } else if (fork() == 0) {
      record(pattern, rank, size, calls);
      return 0;
    }
  }
  while (wait(nullptr) > 0) {
  }
  return 0;
}
