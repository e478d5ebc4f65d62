// Memory that all processes of a node share, servers included. It has no name in any folder, so no end of a process
// leaves it behind.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "stage/link/exchange.hpp"

namespace lull::stage {

struct node_memory {
  descriptor pages;        // of a memfd; empty: see `problem`
  std::vector<int> ranks;  // of the processes on this node, ascending
  bool one_pid_namespace;  // they can check by process id whether another lives
  std::string problem;     // why this process has no pages; not known to the others
};

// Collective over all processes. The first process of each node calls `make`, which may throw lull::error, with the
// number of processes on its node. Throws lull::error if the processes could not be connected, perhaps not on all of them.
[[nodiscard]] node_memory share_with_node(exchange& others, const std::function<descriptor(std::size_t)>& make);

}  // namespace lull::stage
