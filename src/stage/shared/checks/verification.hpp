// Compares the files that several processes have written with the checksums of what the clients handed over
// (checksum_log.hpp), when all of it is written: by the first server of a job, at its end.
//
// Of bytes that were handed over several times, those of the last write count. If a block was overwritten only in part,
// there is no checksum of its rest, which counts as not verified; so does a file that the program's library has changed
// by itself, and one that has been renamed or removed. If a process has left no complete log, nothing can be compared.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace lull::stage {

struct verified {
  std::uint64_t files = 0, bytes = 0;     // that are as they were handed over
  std::uint64_t without_sum = 0;          // bytes overwritten in part
  std::vector<std::string> mismatches;    // a line for each file, and for logs that are missing
  std::vector<std::string> not_verified;  // likewise, with the reason
};

// Reads and removes all logs in the folder; `clients` must have left one.
[[nodiscard]] verified verify(const std::string& folder, int clients);
// One line on stderr for each mismatch and each file that is not verified, and a sum. Returns whether all is well.
[[nodiscard]] bool report(const verified& found);

}  // namespace lull::stage
