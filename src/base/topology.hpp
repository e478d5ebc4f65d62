// The machine of a process: its name, the cores on which the process may run, the size of their caches, and the memory
// nearest to them.
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

// The name of the host; empty if the system does not provide it.
[[nodiscard]] inline std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

struct topology {
  int usable_cores;      // in the given affinity masks, unlike nproc
  std::size_t l2_bytes;  // of one core; 1 MiB if the system does not provide it
};

// The numbers of a list of CPUs, or of ranks, as the kernel and PMIx write it, "0-3,8 10", in order; none if the text
// is something else. Accepts at most 2^20 numbers.
[[nodiscard]] std::vector<int> numbers_in(std::string_view list);

// The numbers, ascending, of the logical CPUs on which this thread may run (its affinity mask), for any number of CPUs:
// a mask of fixed size, such as a single cpu_set_t, is limited to 1,024. Throws lull::error if the kernel does not
// provide it.
using get_affinity = int (*)(pid_t pid, std::size_t bytes, cpu_set_t* mask);  // as sched_getaffinity
[[nodiscard]] std::vector<int> allowed_cores(get_affinity ask = sched_getaffinity);

// The calling process's view (its affinity mask, which includes the binding by a container or a launcher).
[[nodiscard]] topology this_topology();

// Shares of the cores, for processes or hosts that run at the same time.
//
// The system numbers hardware threads, not cores: often first one thread of each core, then the others. Shares of
// neighbouring numbers would then use the same cores. So a share is of whole cores as long as there are enough. Cores of
// Intel's hybrid processors are not equally fast; processes that wait for each other should not differ, so efficient
// cores are left out where performance cores are enough.
struct machine_cores {
  std::vector<std::vector<int>> cores;  // logical CPUs of each core, ascending; performance cores first
  std::size_t performance = 0;          // how many of them are performance cores; all, if the machine has one kind
};

// Groups these logical CPUs, ascending. `root`: the folder that contains sys. A CPU of which the system says nothing is
// a core of its own.
[[nodiscard]] machine_cores cores_among(std::span<const int> cpus, const std::string& root = "/");

// The logical CPUs of each of so many shares: a block of cores; if there are more shares than cores, a block of hardware
// threads; if more than these, one thread each, round robin. Empty shares if there are no cores.
[[nodiscard]] std::vector<std::vector<int>> shares_of(const machine_cores& machine, int shares);

// The NUMA node, by the system's number, that is local to all of these cores; none if they belong to several, or the
// machine has only one. `described`: a machine in hwloc's notation ("numa:2 core:4 pu:1") instead of this one.
[[nodiscard]] std::optional<int> numa_node_of(std::span<const int> cores, const std::string& described = {});

// Places the untouched pages of this memory on that node, whichever core touches them, as long as the node has free
// memory. Whole pages only. Returns false if the system does not support it; nothing has changed then.
bool keep_on_numa_node(std::span<std::byte> memory, int node);

}  // namespace lull
