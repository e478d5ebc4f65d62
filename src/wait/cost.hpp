// What the waiting of a job, or of a node's processes, has cost, as the record of the run keeps it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wait/statistics.hpp"

namespace lull::wait {

[[nodiscard]] constexpr double in_s(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

struct cost_row {
  std::string_view operation;
  std::string_view site;        // where it is called from; empty: calls are not told apart by it
  std::size_t up_to_bytes = 0;  // 0: without a size
  wait_counts counts;
};

// Puts to other nodes that a runtime has rewritten, so that they wait for less.
struct rewritten_puts {
  std::uint64_t coalesced_puts = 0, coalesced_bytes = 0;
  std::uint64_t messages = 0, late_messages = 0;  // that they left in; of these by their deadline
  std::uint64_t copied_puts = 0, copied_bytes = 0;
};

// Transfers to other nodes that the network carried out by itself.
struct transfers_by_rdma {
  std::uint64_t puts = 0, put_bytes = 0, gets = 0, got_bytes = 0, atomics = 0;
  std::uint64_t rings = 0;  // of these, such that woke their target by a message
};

struct cost_of_waiting {
  std::string_view policy;
  int processes = 0, nodes = 1;
  std::int64_t ns_wall = 0;  // of the process that took longest
  std::int64_t ns_cpu = 0;   // of all processes, their progress threads included
  std::int64_t ns_progress_cpu = 0;
  std::uint64_t frequency_changes = 0;
  std::int64_t ns_changing_frequency = 0;
  std::vector<cost_row> rows;
  std::optional<rewritten_puts> rewritten{};   // none: of a program whose transfers are not this runtime's
  std::optional<transfers_by_rdma> by_rdma{};  // none: there is no such network, or it is not to be used
};

// One JSON object; python/lull/record/schema.py says what its fields are.
[[nodiscard]] std::string in_json(const cost_of_waiting& cost);

}  // namespace lull::wait
