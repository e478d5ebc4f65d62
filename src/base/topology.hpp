// What the machine under a process looks like: which cores it may really use, and how large their caches are.
#pragma once
#include <sched.h>
#include <sys/types.h>

#include <cstddef>
#include <vector>

namespace lull {

struct topology {
  int usable_cores;      // cores in the affinity masks given: never nproc
  std::size_t l2_bytes;  // of one core; 1 MiB when the system does not say
};

// The numbers, ascending, of the logical CPUs that this thread may run on (its affinity mask), however many the machine
// has: a mask of fixed size, such as cpu_set_t by itself, ends at 1,024. lull::error when the kernel does not say.
using get_affinity = int (*)(pid_t pid, std::size_t bytes, cpu_set_t* mask);  // as sched_getaffinity
[[nodiscard]] std::vector<int> allowed_cores(get_affinity ask = sched_getaffinity);

// The calling process's view (its affinity mask; a container's or a launcher's binding counts).
[[nodiscard]] topology this_topology();

}  // namespace lull
