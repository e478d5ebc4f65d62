// The cost of the waits of a job, or of the processes of a node, in the form of the run's record.
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
  std::string_view site;        // the call site; empty: the row is for all call sites
  std::size_t up_to_bytes = 0;  // 0: operations without a size
  wait_counts counts;
};

// Puts to other nodes that the runtime coalesced or copied, to shorten waits.
struct rewritten_puts {
  std::uint64_t coalesced_puts = 0, coalesced_bytes = 0;
  std::uint64_t messages = 0, late_messages = 0;  // that carried coalesced puts; of these, sent at their deadline
  std::uint64_t copied_puts = 0, copied_bytes = 0;
};

// Transfers to other nodes by RDMA.
struct transfers_by_rdma {
  std::uint64_t puts = 0, put_bytes = 0, gets = 0, got_bytes = 0, atomics = 0;
  std::uint64_t rings = 0;  // of these, transfers followed by a message that woke the target
};

struct cost_of_waiting {
  std::string_view policy;
  int processes = 0, nodes = 1;
  std::int64_t ns_wall = 0;  // of the process that ran longest
  std::int64_t ns_cpu = 0;   // of all processes, with their progress threads
  std::int64_t ns_progress_cpu = 0;
  std::uint64_t frequency_changes = 0;
  std::int64_t ns_changing_frequency = 0;
  std::vector<cost_row> rows;
  std::optional<rewritten_puts> rewritten{};   // none: another runtime performs the transfers
  std::optional<transfers_by_rdma> by_rdma{};  // none: RDMA is not available, or switched off
};

// Returns one JSON object. python/lull/record/schema.py describes its fields.
[[nodiscard]] std::string in_json(const cost_of_waiting& cost);

}  // namespace lull::wait
