// What the machine under a process looks like: its name, which cores it may really use, how large their caches are, and which
// memory is nearest to them.
#pragma once
#include <sched.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lull {

// Of the host; empty where the system does not say.
[[nodiscard]] inline std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

struct topology {
  int usable_cores;      // cores in the affinity masks given: never nproc
  std::size_t l2_bytes;  // of one core; 1 MiB when the system does not say
};

// The numbers of a list of CPUs, or of ranks, as the kernel and PMIx write it, "0-3,8 10", in its order; none where it is something
// else. At most 2^20 numbers are taken.
[[nodiscard]] std::vector<int> numbers_in(std::string_view list);

// The numbers, ascending, of the logical CPUs that this thread may run on (its affinity mask), however many the machine
// has: a mask of fixed size, such as cpu_set_t by itself, ends at 1,024. lull::error when the kernel does not say.
using get_affinity = int (*)(pid_t pid, std::size_t bytes, cpu_set_t* mask);  // as sched_getaffinity
[[nodiscard]] std::vector<int> allowed_cores(get_affinity ask = sched_getaffinity);

// The calling process's view (its affinity mask; a container's or a launcher's binding counts).
[[nodiscard]] topology this_topology();

// The NUMA node, by the system's number, that is local to all of these cores; nothing where they are of several, and
// where the machine has one. `described`: a machine in hwloc's words ("numa:2 core:4 pu:1") in place of this one.
[[nodiscard]] std::optional<int> numa_node_of(std::span<const int> cores, const std::string& described = {});

// Pages of this memory that nobody has touched yet will be that node's, whoever touches them, while it has any left.
// Whole pages. False: the system does not do that, and nothing has changed.
bool keep_on_numa_node(std::span<std::byte> memory, int node);

}  // namespace lull
