// Merges the recordings of a run's processes into one file (merged_file.hpp).
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lull::trace::merging {

struct merged {
  std::uint64_t recordings = 0, logs = 0, classes = 0, records = 0;
  std::uint64_t bytes = 0;                // of the file
  std::uint64_t call_bytes = 0;           // of these: of calls without their times
  std::vector<std::string> remarks = {};  // what is missing, one line each
};

// Gets the number of logs done, and of all. Returns false to stop with an error.
using merging_progress = std::function<bool(std::uint64_t done, std::uint64_t all)>;

// `raw`: the folder of the recordings, folded or not, or a merged trace. `file` appears as a whole, and replaces an
// earlier one. Each log is read back from the bytes for the file before these are kept. Throws lull::error.
[[nodiscard]] merged merge_recordings(const std::filesystem::path& raw, const std::filesystem::path& file,
                                      const merging_progress& progress = {});

}  // namespace lull::trace::merging
