// What the machine under a process looks like: how many cores it may really use, and how large their caches are.
#pragma once
#include <cstddef>

namespace lull {

struct topology {
  int usable_cores;      // cores in the affinity masks given: never nproc
  std::size_t l2_bytes;  // of one core; 1 MiB when the system does not say
};

// The calling process's view (its affinity mask; a container's or a launcher's binding counts).
[[nodiscard]] topology this_topology();

}  // namespace lull
